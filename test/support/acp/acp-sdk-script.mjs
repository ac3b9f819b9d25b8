// An agent on the protocol's own SDK that does what the prompt tells it to: a JSON list of steps. ACP_AGENT in its
// environment says how it behaves besides (see `nature`). It writes what it was asked into heard.jsonl.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

/** @type {{version?: number, http?: boolean, logins?: object[], needsLogin?: boolean, refusesLogin?: string, session?: object,
 *   load?: boolean, hangAt?: string, staysIn?: string}} */
const nature = JSON.parse(process.env.ACP_AGENT ?? "{}");
const { methods } = acp;
const tools = new Map();
let isLoggedIn = !nature.needsLogin;
let sessions = 0;
// so that it can still hear what comes before its end
process.on("SIGTERM", () => {});
process.stdin.on("end", () => process.exit(0));

const hear = (method, params) => appendFileSync("heard.jsonl", `${JSON.stringify({ method, params })}\n`);

async function until(condition) {
  while (!condition()) await new Promise((done) => setTimeout(done, 5));
}

/** Hangs, if it is its nature, until it is told that nobody waits any more. */
async function hangAt(method, signal) {
  if (nature.hangAt !== method) return;
  await new Promise((done) => signal.addEventListener("abort", done));
  hear("withdrawn", { method });
}

async function openSession(method, { params, signal }) {
  hear(method, params);
  await hangAt(method, signal);
  if (!isLoggedIn) throw acp.RequestError.authRequired();
  const sessionId = params.sessionId ?? `s${process.pid}-${++sessions}`;
  const server = params.mcpServers.find(({ command }) => command !== undefined);
  if (server !== undefined) {
    const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
    const client = new Client({ name: "scripted", version: "1" });
    await client.connect(new StdioClientTransport({ command: server.command, args: server.args, env }));
    tools.set(sessionId, client);
  }
  return method === "session/new" ? { sessionId, ...nature.session } : { ...nature.session };
}

async function play(step, sessionId, client) {
  const tell = (update) => client.notify(methods.client.session.update, { sessionId, update });
  const say = (content) => tell({ sessionUpdate: "agent_message_chunk", content });
  if (step.update) await tell(step.update);
  if (step.say) await say({ type: "text", text: step.say });
  if (step.content) await say(step.content);
  if (step.waitFor) await until(() => existsSync(step.waitFor));
  if (step.call) {
    const answer = await tools.get(sessionId)?.callTool(step.call);
    await say({ type: "text", text: JSON.stringify(answer?.content ?? "no tools") });
  }
  if (step.ask) {
    const { options, ...toolCall } = step.ask;
    const withdrawing = new AbortController();
    if (step.withdrawAt) void until(() => existsSync(step.withdrawAt)).then(() => withdrawing.abort());
    const answer = await client
      .request(
        methods.client.session.requestPermission,
        { sessionId, toolCall, options },
        { cancellationSignal: withdrawing.signal },
      )
      .catch((error) => ({ code: error.code }));
    appendFileSync("answers.jsonl", `${JSON.stringify(answer.outcome ?? answer)}\n`);
  }
}

const app = acp
  .agent({ name: "scripted" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: nature.version ?? acp.PROTOCOL_VERSION,
    agentCapabilities: {
      loadSession: nature.load === true,
      mcpCapabilities: { http: nature.http === true },
    },
    authMethods: nature.logins ?? [],
  }))
  .onRequest(methods.agent.authenticate, ({ params }) => {
    hear("authenticate", params);
    if (nature.refusesLogin) throw acp.RequestError.internalError(undefined, nature.refusesLogin);
    isLoggedIn = true;
    return {};
  })
  .onRequest(methods.agent.session.new, (context) => openSession("session/new", context))
  .onRequest(methods.agent.session.load, (context) => openSession("session/load", context))
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    hear("session/set_mode", params);
    if (nature.staysIn) throw acp.RequestError.invalidParams(undefined, `I stay in ${nature.staysIn}`);
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    hear("session/set_config_option", params);
    const configOptions = (nature.session?.configOptions ?? []).map((option) => ({
      ...option,
      currentValue: option.id === params.configId ? (nature.staysIn ?? params.value) : option.currentValue,
    }));
    return { configOptions };
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId, prompt } = params;
    hear("session/prompt", { sessionId });
    let result = { stopReason: "end_turn", usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110 } };
    const late = [];
    for (const step of JSON.parse(prompt[0].text)) {
      if (step.after) late.push(...step.after);
      else if (step.error) throw new acp.RequestError(step.error.code, step.error.message);
      else await play(step, sessionId, client);
      result = step.result ?? result;
    }
    if (late.length > 0)
      setTimeout(async () => {
        for (const step of late) await play(step, sessionId, client);
        writeFileSync("late", "");
      }, 5);
    return result;
  });
app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
