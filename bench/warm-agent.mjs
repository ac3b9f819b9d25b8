// An agent over the Agent Client Protocol that answers each prompt after 10 ms, the least that a real one took, with 20
// pieces of text. For warm.ts.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const results = {
  initialize: { protocolVersion: 1, agentCapabilities: {} },
  "session/new": { sessionId: "bench" },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method !== "session/prompt") return send({ id, result: results[method] ?? {} });
  for (let n = 0; n < 20; n++) {
    const content = { type: "text", text: `word ${n} ` };
    const update = { sessionUpdate: "agent_message_chunk", content };
    send({ method: "session/update", params: { sessionId: "bench", update } });
  }
  const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120 };
  setTimeout(() => send({ id, result: { stopReason: "end_turn", usage } }), 10);
});
