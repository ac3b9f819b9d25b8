// An agent that speaks the Agent Client Protocol by hand, and does what the prompt tells it to: a JSON list of steps,
// or any text, which it repeats. ACP_AGENT in its environment says how it behaves besides (see `nature`).
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** @type {{ignoreTerm?: boolean, repeatsLate?: boolean, ignoreCancel?: boolean, hangAt?: string, dieAt?: string, capabilities?: object,
 *   session?: object, state?: string, noise?: string, errorAt?: {method: string, error: object}}} */
const nature = JSON.parse(process.env.ACP_AGENT ?? "{}");
const stateDir = nature.state ?? ".acp-state";
const HIDES = fileURLToPath(new URL("../../fixtures/agents/hides.sh", import.meta.url));
const cancelled = new Map();
const waiting = new Map();
let nextId = 1000;
let sessions = 0;

if (nature.ignoreTerm) process.on("SIGTERM", () => {});
if (nature.noise) process.stdout.write(`${nature.noise}\n`);

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, body) => send({ method: "session/update", params: { sessionId, update: body } });
const memory = (id) => `${stateDir}/${id}.json`;
const recall = (id) => (existsSync(memory(id)) ? JSON.parse(readFileSync(memory(id), "utf8")) : null);

function remember(id, prompts) {
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(memory(id), JSON.stringify(prompts));
}

function ask(method, params) {
  const id = nextId++;
  send({ id, method, params });
  return new Promise((done) => waiting.set(id, done));
}

const OPTIONS = [
  { optionId: "forever", name: "Always", kind: "allow_always" },
  { optionId: "never", name: "Never", kind: "reject_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
  { optionId: "yes", name: "Yes", kind: "allow_once" },
];

async function play(sessionId, steps, id) {
  let end = { stopReason: "end_turn", usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110 } };
  for (const step of steps) {
    if (cancelled.get(sessionId) && !nature.ignoreCancel)
      return send({ id, result: { stopReason: "cancelled" } });
    if (step.say !== undefined)
      update(sessionId, {
        sessionUpdate: "agent_message_chunk",
        ...(step.messageId === undefined ? {} : { messageId: step.messageId }),
        content: { type: "text", text: step.say },
      });
    if (step.update) update(step.sessionId ?? sessionId, step.update);
    if (step.raw) process.stdout.write(`${step.raw}\n`);
    if (step.stderr) process.stderr.write(step.stderr);
    if (step.write) writeFileSync(step.write, step.content ?? "written\n");
    if (step.ask) {
      const { options = OPTIONS, ...toolCall } = step.ask;
      const answer = await ask("session/request_permission", { sessionId, toolCall, options });
      appendFileSync("answers.jsonl", `${JSON.stringify(answer.result ?? answer.error)}\n`);
      const chosen = options.find(({ optionId }) => optionId === answer.result?.outcome?.optionId);
      if (step.thenWrite && chosen?.kind.startsWith("allow")) writeFileSync(step.thenWrite, "allowed\n");
    }
    if (step.recall) {
      const before = (recall(sessionId) ?? []).slice(0, -1);
      update(sessionId, {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: `heard ${before.length} before` },
      });
    }
    if (step.env) writeFileSync("env.json", JSON.stringify(process.env));
    if (step.child) leaveChild(step.child);
    if (step.hide) spawnSync("sh", [HIDES, step.hide]);
    if (step.flood)
      for (let n = 0; n < step.flood; n++)
        update(sessionId, { sessionUpdate: "plan", entries: "x".repeat(1000) });
    if (step.waitFor) await until(() => existsSync(step.waitFor) || cancelled.get(sessionId));
    if (step.ready) writeFileSync(step.ready, String(process.pid));
    if (step.hang) await until(() => cancelled.get(sessionId) && !nature.ignoreCancel);
    if (step.die !== undefined) process.exit(step.die);
    if (step.kill) process.kill(process.pid, step.kill);
    if (step.closeStdout) process.stdout.end();
    if (step.error) return send({ id, error: step.error });
    if (step.result) end = step.result;
    if (step.twice) send({ id, result: end });
  }
  if (cancelled.get(sessionId) && !nature.ignoreCancel) end = { stopReason: "cancelled" };
  send({ id, result: end });
}

/** `group`: stays in the group; `session`: leaves it, as daemons do. */
function leaveChild({ file, detached }) {
  const child = spawn("sh", ["-c", `echo $$ > ${file}; exec sleep 1000`], { detached, stdio: "ignore" });
  child.unref();
}

function until(condition) {
  return new Promise((done) => {
    const timer = setInterval(() => {
      if (!condition()) return;
      clearInterval(timer);
      done();
    }, 5);
  });
}

function stepsOf(text) {
  try {
    const steps = JSON.parse(text);
    if (Array.isArray(steps)) return steps;
  } catch {}
  return [{ say: `you said: ${text}` }];
}

const handlers = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true },
      sessionCapabilities: { close: {} },
      ...nature.capabilities,
    },
  }),
  "session/new": () => {
    const sessionId = `s${process.pid}-${++sessions}`;
    remember(sessionId, []);
    return { sessionId, ...nature.session };
  },
  "session/load": ({ sessionId }) => {
    const before = recall(sessionId);
    if (before === null) throw { code: -32603, message: "no such session" };
    const repeat = () => {
      for (const text of before) {
        update(sessionId, { sessionUpdate: "user_message_chunk", content: { type: "text", text } });
        update(sessionId, {
          sessionUpdate: "agent_message_chunk",
          content: { type: "text", text: "an old answer" },
        });
      }
      writeFileSync("repeated", "");
    };
    // as Gemini does it
    if (nature.repeatsLate) setTimeout(repeat, 20);
    else repeat();
    return { ...nature.session };
  },
  "session/resume": ({ sessionId }) => {
    if (recall(sessionId) === null) throw { code: -32603, message: "no such session" };
    return { ...nature.session };
  },
  "session/close": () => ({}),
  "session/set_mode": () => ({}),
  "session/set_model": () => ({}),
  "session/set_config_option": () => ({}),
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (process.env.ACP_LOG) appendFileSync(process.env.ACP_LOG, `${line}\n`);
  const { id, method, params } = message;
  if (method === undefined) {
    waiting.get(id)?.(message);
    waiting.delete(id);
    return;
  }
  if (method === nature.hangAt) return;
  if (method === nature.dieAt) {
    process.stderr.write("I do not want to\n");
    process.exit(3);
  }
  if (method === "session/cancel") return void cancelled.set(params.sessionId, true);
  if (method === nature.errorAt?.method) return send({ id, error: nature.errorAt.error });
  if (method === "session/prompt") {
    const text = params.prompt[0].text;
    cancelled.set(params.sessionId, false);
    remember(params.sessionId, [...(recall(params.sessionId) ?? []), text]);
    appendFileSync("prompts.txt", `${process.pid} ${params.sessionId}\n`);
    void play(params.sessionId, stepsOf(text), id);
    return;
  }
  try {
    const handler = handlers[method];
    if (handler === undefined) send({ id, error: { code: -32601, message: `no ${method}` } });
    else send({ id, result: handler(params) });
  } catch (error) {
    send({ id, error });
  }
});
lines.on("close", () => {
  if (!nature.ignoreTerm) process.exit(0);
});
