/** `LOOP_DEBUG=1` logs hook input and answers to `.loop/debug.log` (D12), but never the environment. */
import { join } from "node:path";
import { checkLoopDir } from "../../store/folder/loop-dir.ts";
import { appendTo } from "../../system/files.ts";
import { currentMask } from "../../system/secrets.ts";

export type Log = (who: string, text: string) => void;

const MOST_CHARACTERS = 20_000;

export function openLog(root: string, env: NodeJS.ProcessEnv): Log {
  if (env.LOOP_DEBUG !== "1") return () => {};
  return (who, text) => {
    const line = `${new Date().toISOString()} ${process.pid} ${who} ${currentMask().text(text).slice(0, MOST_CHARACTERS)}`;
    try {
      if (!checkLoopDir(root)) return;
      appendTo(join(root, ".loop", "debug.log"), `${line.replaceAll("\n", "\\n")}\n`);
    } catch {
      // a failing log must not stop the hook
    }
  };
}
