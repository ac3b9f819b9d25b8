/** Finds the client that started a hook: the nearest parent process that is not a shell or our hook script. */
import type { ProcessRef } from "../../core/base.ts";
import { procStart } from "../../system/process.ts";
import { parseStat, ps, readStat } from "../../system/process-table.ts";

const SHELL =
  /^-?(?:.*\/)?(?:loop-hook|sh|bash|dash|ash|zsh|fish|ksh|busybox|cmd\.exe|pwsh|powershell\.exe)$/;
const MOST_SHELLS = 8;

export function clientProcess(from = process.ppid): ProcessRef {
  let pid = from;
  for (let count = 0; count < MOST_SHELLS; count++) {
    const found = describe(pid);
    if (found === null || !SHELL.test(found.name) || found.parent <= 1) break;
    pid = found.parent;
  }
  return { pid, start: procStart(pid) };
}

function describe(pid: number): { readonly name: string; readonly parent: number } | null {
  if (process.platform === "win32") return null;
  const stat = process.platform === "linux" ? readStat(pid) : null;
  if (stat !== null) {
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    return { name, parent: parseStat(stat)?.parent ?? 0 };
  }
  const [, parent, name] =
    /^\s*(\d+)\s+(\S.*?)\s*$/.exec(ps(["-o", "ppid=,comm=", "-p", String(pid)]) ?? "") ?? [];
  return parent === undefined || name === undefined ? null : { name, parent: Number(parent) };
}
