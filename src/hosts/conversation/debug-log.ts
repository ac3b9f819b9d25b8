/** `LOOP_DEBUG=1`: what hooks were asked and answered, in `.loop/debug.log` (D12). The environment is never in it. */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";

export type Log = (who: string, text: string) => void;

const MOST_CHARACTERS = 20_000;

export function openLog(root: string, env: NodeJS.ProcessEnv): Log {
  if (env.LOOP_DEBUG !== "1") return () => {};
  return (who, text) => {
    const dir = join(root, ".loop");
    if (!existsSync(dir)) return;
    const line = `${new Date().toISOString()} ${process.pid} ${who} ${text.slice(0, MOST_CHARACTERS)}`;
    try {
      appendFileSync(join(dir, "debug.log"), `${line.replaceAll("\n", "\\n")}\n`, { mode: 0o600 });
    } catch {
      // a log that cannot be written must not be in the way
    }
  };
}
