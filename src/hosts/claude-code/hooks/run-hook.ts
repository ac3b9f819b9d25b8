/**
 * `loop hook claude <event>`: one hook as a process. The client starts it when a conversation starts or ends, and for
 * all other events while the plugin's server is not running.
 */
import { openLog } from "../../conversation/debug-log.ts";
import { parseFields, textOf } from "../../conversation/fields.ts";
import { runHookProcess, untilStopped } from "../../conversation/hooks/hook-process.ts";
import { commandBeside } from "../../conversation/typed.ts";
import { readClient, withoutClient } from "../client.ts";
import { Resident } from "../resident.ts";

const STOPPED_BY = ["SIGTERM", "SIGINT"] as const;

export async function runHook(text: string, event: string, script: string): Promise<string> {
  const client = readClient(process.env);
  const env = withoutClient(process.env);
  const log = openLog(client.root, env);
  const parsed = parseFields(text);
  const input = parsed === null ? {} : { hook_event_name: event, ...parsed };
  const resident = new Resident({
    client: { ...client, session: textOf(parsed, "session_id") },
    env,
    command: commandBeside(script),
    say: (message) => log("hook", message),
    stays: false,
  });
  return untilStopped(STOPPED_BY, async (stopping) => {
    const answer = await resident.answer(input, stopping);
    log("hook", `${JSON.stringify(input)} -> ${answer}`);
    await resident.close(false);
    return answer;
  });
}

export function main(event: string): Promise<void> {
  return runHookProcess((text, script) => runHook(text, event, script));
}
