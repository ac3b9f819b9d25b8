/** The text of the plugin for opencode. The plugin runs in opencode's own runtime, so it imports nothing of ours. */
import { MARK } from "./texts.ts";

/** `start`: the program and its first arguments, such as node and the path of loop.cjs. */
export function renderOpencodePlugin(start: readonly string[]): string {
  return `// ${MARK}; \`loop uninstall opencode\` removes it.
// When a conversation is idle, the plugin asks Loopwright whether its loop continues. Without a .loop folder it starts
// nothing.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const START = ${JSON.stringify(start)};
const MOST_BYTES = 4 * 1024 * 1024;

export const Loopwright = async ({ client, directory }) => {
  const sent = new Map();
  const asked = new Set();
  const errors = new Map();

  const ask = (event, payload) =>
    new Promise((resolve) => {
      const [program, ...words] = START;
      const child = spawn(program, [...words, "hook", "opencode", event], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
      });
      let out = "";
      child.stdout.on("data", (part) => {
        if (out.length < MOST_BYTES) out += part;
      });
      child.on("error", () => resolve(null));
      child.stdin.on("error", () => {});
      child.on("close", () => resolve(parse(out)));
      child.stdin.end(JSON.stringify({ cwd: directory, ...payload }));
    });

  const tell = (message) =>
    client.tui.showToast({ body: { message, variant: "info" } }).catch(() => {});

  const rest = async (session) => {
    if (asked.has(session) || loopsOf(directory) === null) return;
    asked.add(session);
    try {
      const last = await lastTurn(client, session, errors.get(session));
      if (last === null) return;
      const answer = await ask("stop", { session, ...last.turn });
      if (answer?.message) tell(answer.message);
      if (answer?.kind !== "context") return;
      sent.set(session, answer.text);
      await client.session.promptAsync({
        path: { id: session },
        body: { ...last.choice, parts: [{ type: "text", text: answer.text }] },
      });
    } finally {
      asked.delete(session);
    }
  };

  return {
    event: async ({ event }) => {
      // this event comes before session.idle; the message has the error only later
      if (event.type === "session.error") errors.set(event.properties.sessionID, event.properties.error?.name);
      // checks may take long, and other events must not wait for them
      if (event.type === "session.idle") void rest(event.properties.sessionID).catch(() => {});
      if (event.type === "session.deleted" && isKnown(directory, event.properties.info.id))
        await ask("end", { session: event.properties.info.id });
    },
    "command.execute.before": async ({ command, sessionID, arguments: typed }, output) => {
      if (command !== "loop") return;
      const answer = await ask("prompt", { session: sessionID, prompt: \`/loop \${typed}\` });
      const words = wordsOf(answer);
      if (words === null) return;
      // change the list itself: opencode ignores a new one
      output.parts.splice(0, output.parts.length, { type: "text", text: words });
      sent.set(sessionID, words);
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      errors.delete(sessionID);
      const prompt = parts.map((part) => part.text ?? "").join("\\n");
      if (!isKnown(directory, sessionID) || sent.get(sessionID) === prompt) return;
      await ask("prompt", { session: sessionID, prompt });
    },
  };
};

/** The text for the model; null: none. */
function wordsOf(answer) {
  if (answer?.kind === "context") return answer.text;
  if (answer?.kind !== "local") return null;
  return \`Loopwright has run the command. Show the person this text unchanged, and do nothing else:\\n\\n\${answer.text}\`;
}

function parse(words) {
  try {
    return JSON.parse(words);
  } catch {
    return null;
  }
}

/** The .loop folder here, or in a git work tree the nearest one above; null: none. */
function loopsOf(from) {
  if (existsSync(join(from, ".loop"))) return join(from, ".loop");
  let found = null;
  for (let dir = from; ; dir = dirname(dir)) {
    if (found === null && existsSync(join(dir, ".loop"))) found = join(dir, ".loop");
    if (existsSync(join(dir, ".git"))) return found;
    if (dir === dirname(dir)) return null;
  }
}

/** Has this conversation used a loop command? */
function isKnown(from, session) {
  const loops = loopsOf(from);
  return loops !== null && existsSync(join(loops, "sessions", \`\${session.replaceAll("_", "-")}.json\`));
}

/** The facts about the turn that just ended, with its agent and model; null: no answer. */
async function lastTurn(client, session, told) {
  const { data = [] } = await client.session.messages({ path: { id: session } });
  const from = data.findLastIndex(({ info }) => info.role === "user");
  const own = data.slice(from + 1).filter(({ info }) => info.role === "assistant");
  const last = own.at(-1);
  if (last === undefined) return null;
  const { agent, model } = data[from]?.info ?? {};
  const sum = (count) => own.reduce((total, { info }) => total + (count(info) ?? 0), 0);
  const error = told ?? last.info.error?.name;
  const turn = {
    answer: last.parts
      .filter((part) => part.type === "text" && !part.synthetic)
      .map((part) => part.text)
      .join("\\n"),
    toolCalls: own.flatMap(({ parts }) => parts).filter(({ type }) => type === "tool").length,
    end: error === undefined ? "ok" : error === "MessageAbortedError" ? "interrupted" : "failed",
    usage: {
      model: last.info.modelID,
      cost: sum(({ cost }) => cost),
      input: sum(({ tokens }) => tokens?.input),
      output: sum(({ tokens }) => tokens?.output),
      cached: sum(({ tokens }) => tokens?.cache?.read),
    },
  };
  return { turn, choice: { ...(agent && { agent }), ...(model && { model }) } };
}
`;
}
