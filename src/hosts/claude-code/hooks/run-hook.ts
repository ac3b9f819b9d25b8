/**
 * `loop hook claude <event>`: one hook on its own. The client starts it for the beginning and the end of a
 * conversation, and for everything else while the plugin's server is not there. The event is JSON on stdin, the answer
 * JSON on stdout, and nothing else; whatever goes wrong, it exits with 0 and lets things happen.
 */
import { readFileSync } from "node:fs";
import { openLog } from "../../conversation/debug-log.ts";
import { commandBeside } from "../../conversation/typed.ts";
import { readClient, withoutClient } from "../client.ts";
import { Resident } from "../resident.ts";

const STOPPED_BY = ["SIGTERM", "SIGINT"] as const;

export async function runHook(text: string, event: string, script: string): Promise<string> {
  const client = readClient(process.env);
  const env = withoutClient(process.env);
  const log = openLog(client.root, env);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of STOPPED_BY) process.once(signal, stop);
  const input = parse(text, event);
  const resident = new Resident({
    client: { ...client, session: sessionIn(input) },
    env,
    command: commandBeside(script),
    say: (message) => log("hook", message),
    stays: false,
  });
  const answer = await resident.answer(input, stopping.signal);
  log("hook", `${JSON.stringify(input)} -> ${answer}`);
  await resident.close(false);
  for (const signal of STOPPED_BY) process.off(signal, stop);
  return answer;
}

function parse(text: string, event: string): Record<string, unknown> {
  try {
    const input = JSON.parse(text) as Record<string, unknown> | null;
    return typeof input === "object" && input !== null ? { hook_event_name: event, ...input } : {};
  } catch {
    return {};
  }
}

function sessionIn({ session_id: session }: Record<string, unknown>): string {
  return typeof session === "string" ? session : "";
}

/** The end of stdin may never come where somebody else holds it open: a hook's input always ends. */
export async function main(event: string): Promise<void> {
  try {
    const answer = await runHook(readFileSync(0, "utf8"), event, process.argv[1] ?? "");
    if (answer !== "") process.stdout.write(answer);
  } catch (error) {
    process.stderr.write(`loop hook: ${String(error)}\n`);
  }
}
