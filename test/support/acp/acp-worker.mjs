// An agent that speaks the Agent Client Protocol and takes the turns of real loops: it answers the self-test, works on
// goals and stories, gives verdicts, scores and plans. The words after its name say how it behaves besides:
//   asks=<n>:<command>  asks leave for the command n times in each turn that works; works only where it was allowed
//   chatty              goes on talking about its tools while it waits for the answer
//   idle                writes no file
//   deaf                does not hear when it is cancelled, nor SIGTERM
//   mute                answers nothing
//   stranger            is not logged in
// Beside HOME is what it was answered (acp-answers), each of its prompts with its process (acp-prompts), and what it
// talked about while it waited (acp-talk).
import { appendFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const words = process.argv.slice(2);
const is = (word) => words.includes(word);
const [, times, command] =
  /^asks=(\d+):(.*)$/s.exec(words.find((word) => word.startsWith("asks=")) ?? "") ?? [];
const beside = dirname(process.env.HOME);
const note = (file, text) => appendFileSync(join(beside, file), `${text}\n`);
const sessions = new Map();
const waiting = new Map();
let nextId = 1000;

if (is("deaf")) process.on("SIGTERM", () => {});

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, body) => send({ method: "session/update", params: { sessionId, update: body } });
const say = (sessionId, text) =>
  update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

function ask(method, params) {
  const id = nextId++;
  send({ id, method, params });
  return new Promise((done) => waiting.set(id, done));
}

const OPTIONS = [
  { optionId: "forever", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "No", kind: "reject_once" },
  { optionId: "yes", name: "Yes", kind: "allow_once" },
];

/** Every one must be granted. */
async function askLeave(sessionId) {
  let isGranted = true;
  for (let n = 1; n <= Number(times ?? 0); n++) {
    const toolCall = { toolCallId: `call-${nextId}`, title: command, kind: "execute", rawInput: { command } };
    update(sessionId, { sessionUpdate: "tool_call", status: "pending", ...toolCall });
    const talking = is("chatty") ? setInterval(() => talk(sessionId), 100) : null;
    const { result } = await ask("session/request_permission", { sessionId, toolCall, options: OPTIONS });
    if (talking !== null) clearInterval(talking);
    const { outcome, optionId } = result?.outcome ?? {};
    note("acp-answers", outcome === "selected" ? optionId : outcome);
    isGranted &&= optionId === "yes";
  }
  return isGranted;
}

function talk(sessionId) {
  const toolCallId = `talk-${nextId++}`;
  note("acp-talk", toolCallId);
  update(sessionId, { sessionUpdate: "tool_call", toolCallId, title: "Looking around", kind: "read" });
}

const cancelled = (session) =>
  new Promise((done) => {
    if (!is("deaf")) session.onCancel = done;
  });

/** What the turn ends with; null: it was stopped. */
async function takeTurn(sessionId, text) {
  const session = sessions.get(sessionId);
  if (is("mute")) {
    await cancelled(session);
    return null;
  }
  const write = (name, content) => (is("idle") ? null : writeFileSync(join(session.cwd, name), content));
  const found = (pattern) => pattern.exec(text)?.[1];
  const word = found(/Answer with this word and nothing else: (\S+)/);
  if (word !== undefined) {
    session.word = word;
    return word;
  }
  if (text.startsWith("Which word")) return session.word ?? "none";
  if (text.startsWith("Write the file hello.txt")) {
    write("hello.txt", found(/with this word in it: (\S+)\./));
    return "done";
  }
  if (text.startsWith("Count slowly")) {
    say(sessionId, "1 is the loneliest number.");
    await cancelled(session);
    return null;
  }
  if (text.startsWith("Score how clear"))
    return JSON.stringify(
      Object.fromEntries(
        ["outcome", "scope", "constraints", "success", "done"].map((key) => [key, { score: 2 }]),
      ),
    );
  if (text.includes("# This turn: the plan, no work")) return plan(found(/"nonce": "(\w+)"/));
  const verdict = found(/<verdict nonce="(\w+)">/);
  if (verdict !== undefined) return `It is there.\n\n<verdict nonce="${verdict}">PASS</verdict>`;
  const isGranted = await askLeave(sessionId);
  if (isGranted) write(`${found(/\b(US-\d{3})\b/) ?? "done"}.txt`, "done\n");
  return report(found(/Nonce of this turn: (\w+)/), isGranted);
}

function plan(nonce) {
  const story = {
    id: "US-001",
    title: "Do it",
    description: "d",
    acceptanceCriteria: ["It is done"],
    priority: 1,
  };
  const userStories = [{ ...story, checks: ["done=test -f US-001.txt"], dependsOn: [], depth: "quick" }];
  const content = { nonce, project: "p", branchName: "loop/p", description: "d", userStories };
  return `\`\`\`json\n${JSON.stringify(content)}\n\`\`\``;
}

function report(nonce, isDone) {
  if (nonce === undefined) return isDone ? "I did it." : "I was not allowed to.";
  return `That is it.\n\n---LOOP_STATUS---\nNONCE: ${nonce}\nEXIT_SIGNAL: ${isDone}\nSTEP: ${isDone ? "done" : "open"}\nNEXT: none\n---END_STATUS---`;
}

async function prompt(id, { sessionId, prompt: [{ text }] }) {
  note("acp-prompts", `${process.pid} ${JSON.stringify(text)}`);
  const answer = await takeTurn(sessionId, text);
  if (answer === null) return send({ id, result: { stopReason: "cancelled" } });
  say(sessionId, answer);
  const usage = { inputTokens: 100, outputTokens: 10, totalTokens: 110 };
  send({ id, result: { stopReason: "end_turn", usage } });
}

const handlers = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: false, mcpCapabilities: { http: true } },
    ...(is("stranger") ? { authMethods: [{ id: "login", name: "Log in" }] } : {}),
  }),
  "session/new": ({ cwd }) => {
    if (is("stranger")) throw { code: -32000, message: "Authentication required" };
    const sessionId = `s${process.pid}-${sessions.size + 1}`;
    sessions.set(sessionId, { cwd, word: null, onCancel: null });
    return { sessionId };
  },
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params, ...rest } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.(rest);
    waiting.delete(id);
  } else if (method === "session/cancel") {
    sessions.get(params.sessionId)?.onCancel?.();
  } else if (method === "session/prompt") {
    void prompt(id, params);
  } else {
    try {
      const handler = handlers[method];
      if (handler === undefined) throw { code: -32601, message: `no ${method}` };
      send({ id, result: handler(params) });
    } catch (error) {
      send({ id, error });
    }
  }
});
lines.on("close", () => {
  if (!is("deaf")) process.exit(0);
});
