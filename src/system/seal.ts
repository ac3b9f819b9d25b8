/**
 * A mark on a process and on everything that it starts, which none of them can remove: two limits that Linux keeps
 * but has ignored since 2.4, of file locks and of the resident set. Every child has them, also in another session or
 * namespace and with an empty environment. Keeps what it found out about the shell.
 *
 * 1. Only CAP_SYS_RESOURCE can raise a limit, and a sealed process of root starts without it.
 * 2. The sum of both limits is fixed. So a process that lowers one is recognized, and cannot get another's seal.
 * 3. A process that is sealed already gets no other seal.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { FoundBy } from "../core/base.ts";
import { orNull } from "./files.ts";
import { findProgram } from "./find-program.ts";

export interface Seal {
  readonly value: number;
  /** false: the process, or the one that started it, changed a limit. */
  readonly isIntact: boolean;
}

const LEAST = 2 ** 50;
const SUM = 2 ** 52;
const CAP_SYS_RESOURCE = 1n << 24n;
const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv"];
const WITHOUT_CAPABILITY = ["--bounding-set", "-sys_resource", "--inh-caps", "-sys_resource"];

/** One seal per text. */
export function sealOf(text: string): number {
  return LEAST + Number(BigInt(`0x${createHash("sha256").update(text).digest("hex")}`) % BigInt(LEAST));
}

/** How this runner starts a sealed shell. */
export interface Sealing {
  readonly foundBy: FoundBy;
  /** The words before the shell. */
  readonly before: readonly string[];
  /** A command for the shell that seals it. */
  set(seal: number): string;
  /** Defines `sweep` in a shell. It ends every process with the seal except the shell itself. */
  sweep(seal: number): string;
}

// dash has `-w`, bash has `-x`
const setSeal = (seal: number) =>
  `{ ulimit -w ${seal} || ulimit -x ${seal}; ulimit -m ${SUM - seal}; } 2>/dev/null`;

// several looks, because a dying process may fork
const sweepSeal = (seal: number) => `sweep() {
  read -r me rest </proc/self/stat || return 0
  for n in 1 2 3 4 5 6 7 8 9; do
    found=
    for p in $(command -p grep -ls '^Max file locks .* ${seal}  *locks' /proc/[0-9]*/limits); do
      p=\${p#/proc/}
      p=\${p%/limits}
      [ "$p" = "$me" ] || { kill -KILL "$p" && found=1; }
    done
    [ -n "$found" ] || return 0
  done
}`;

const UNSEALED = { before: [], set: () => ":", sweep: () => "sweep() { :; }" };

const known = new Map<string, Sealing>();

/** Tries it once for each shell. */
export function sealingOf(shell: string): Sealing {
  const found = known.get(shell) ?? trySealing(shell);
  known.set(shell, found);
  return found;
}

/** How the processes of a turn are found here. */
export function foundByHere(): FoundBy {
  return sealingOf("/bin/sh").foundBy;
}

function trySealing(shell: string): Sealing {
  if (process.platform !== "linux") return { foundBy: "group", ...UNSEALED };
  if (isSealed()) return { foundBy: "marks", ...UNSEALED };
  // never a program of the project
  const setpriv =
    SETPRIV.find((path) => existsSync(path)) ?? findProgram("setpriv", process.env) ?? "/setpriv";
  const before = canRaise(readProc("self", "status") ?? "") ? [setpriv, ...WITHOUT_CAPABILITY] : [];
  const seal = sealOf("a try");
  const script = `${setSeal(seal)}; command -p cat /proc/self/limits /proc/self/status`;
  const [program = shell, ...args] = [...before, shell, "-c", script];
  // loaded late: it is slow, and most commands never need it
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
  const told = orNull(() => execFileSync(program, args, { encoding: "utf8", timeout: 5_000, stdio })) ?? "";
  const found = parseSeal(told);
  // only whole seals: otherwise each of our processes would look as if it had changed its seal
  if (found?.value !== seal || !found.isIntact) return { foundBy: "marks", ...UNSEALED };
  const commands = { set: setSeal, sweep: sweepSeal };
  // root can remove such a seal, but most programs do not
  return canRaise(told)
    ? { foundBy: "marks", before, ...commands }
    : { foundBy: "seal", before, ...commands };
}

/** Did a turn or a check start this process? false: no, or unknown. */
export function isSealed(): boolean {
  return readSeal("self") !== null;
}

/** null: the process has no seal. */
export function readSeal(pid: number | "self"): Seal | null {
  const limits = readProc(pid, "limits");
  return limits === null ? null : parseSeal(limits);
}

/** Of the user who runs this process. */
export function isOwn(pid: number): boolean {
  const [, uid] = /^Uid:\s+(\d+)/m.exec(readProc(pid, "status") ?? "") ?? [];
  return Number(uid) === process.getuid?.();
}

function parseSeal(limits: string): Seal | null {
  const [, locks] = /^Max file locks +\S+ +(\d+) /m.exec(limits) ?? [];
  if (locks === undefined) return null;
  // in bytes, while shells count in KiB
  const [, resident = "0"] = /^Max resident set +\S+ +(\d+) /m.exec(limits) ?? [];
  const value = Number(locks);
  return { value, isIntact: value + Number(BigInt(resident) / 1024n) === SUM };
}

function canRaise(status: string): boolean {
  const [, bits = "0"] = /^CapEff:\s+([0-9a-f]+)$/m.exec(status) ?? [];
  return (BigInt(`0x${bits}`) & CAP_SYS_RESOURCE) !== 0n;
}

function readProc(pid: number | "self", name: "limits" | "status"): string | null {
  return orNull(() => readFileSync(`/proc/${pid}/${name}`, "latin1"));
}
