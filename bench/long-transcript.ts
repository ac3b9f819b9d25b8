/**
 * Makes the transcript of a conversation long: what an agent did for days, before. The old lines come first and end in
 * a branch that the conversation does not continue, so that the client, which reads the file when it resumes, has no
 * more to send than before.
 */
import { closeSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";

const RESULT = "the quick brown fox jumps over the lazy dog and runs away\\n".repeat(350);
const START = Date.UTC(2026, 0, 5, 10);

export function lengthen(path: string, bytes: number): void {
  const recent = readFileSync(path);
  const session = /"sessionId":"([^"]+)"/.exec(recent.toString("utf8"))?.[1] ?? "";
  const fd = openSync(`${path}.new`, "wx", 0o600);
  let written = 0;
  let parent: string | null = null;
  for (let n = 0; written < bytes; n += 1) {
    for (const { type, message } of oneStep(n)) {
      const uuid: string = idOf(written);
      const common = { isSidechain: false, userType: "external", cwd: "/tmp", sessionId: session };
      const timestamp = new Date(START + n * 1000).toISOString();
      const line = { parentUuid: parent, ...common, type, message, uuid, timestamp, version: "2.1.325" };
      written += writeSync(fd, `${JSON.stringify(line)}\n`);
      parent = uuid;
    }
  }
  writeSync(fd, recent);
  closeSync(fd);
  renameSync(`${path}.new`, path);
}

/** A call of a tool, and what it returned. */
function oneStep(n: number): readonly { readonly type: string; readonly message: object }[] {
  const call = { type: "tool_use", id: `toolu_${n}`, name: "Bash", input: { command: `npm test -- ${n}` } };
  const result = { type: "tool_result", tool_use_id: `toolu_${n}`, content: RESULT };
  const usage = {
    input_tokens: 1_000,
    output_tokens: 50,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  const answer = { id: `msg_old_${n}`, type: "message", role: "assistant", model: "claude-opus-5-5" };
  return [
    { type: "assistant", message: { ...answer, content: [call], stop_reason: "tool_use", usage } },
    { type: "user", message: { role: "user", content: [result] } },
  ];
}

function idOf(n: number): string {
  return `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
}
