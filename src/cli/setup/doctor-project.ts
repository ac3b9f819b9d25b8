/** What `loop doctor` finds in a project's `.loop`. Reads; repairs nothing. */
import { join } from "node:path";
import { openStore } from "../../compose/open-store.ts";
import { LoopError } from "../../errors.ts";
import { broken, type Finding, note, ok } from "../../hosts/conversation/finding.ts";
import type { Store } from "../../ports/store.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { checkLoopDir } from "../../store/folder/loop-dir.ts";
import { originOf } from "../../store/folder/origin.ts";
import { isAlive } from "../../system/process.ts";

export function examineProject(root: string, now: number): readonly Finding[] {
  const dir = join(root, ".loop");
  try {
    if (!checkLoopDir(root)) return [ok("project", `${root} has no .loop yet; the first loop makes it`)];
    const said: string[] = [];
    const store = openStore(dir, { now: () => now, say: (message) => said.push(message) });
    return [
      ...examineOrigin(dir),
      ...examineConfig(dir),
      ...examineJournal(store, dir),
      ...said.map((message) => note("journal", message, null)),
      examineLease(store, now),
      ...examineSessions(store),
    ];
  } catch (error) {
    return [fault("project", error, `Look at ${dir}.`)];
  }
}

function examineOrigin(dir: string): readonly Finding[] {
  if (originOf(dir) !== "foreign") return [];
  return [note("origin", "the loops here were not made on this machine; nothing of them runs", "loop trust")];
}

function examineConfig(dir: string): readonly Finding[] {
  try {
    readConfig({ dir });
    return [];
  } catch (error) {
    return [fault("config", error, "Mend or remove it.")];
  }
}

function examineJournal(store: Store, dir: string): readonly Finding[] {
  const faults = store.faults();
  const damaged = faults.find((fault) => fault.kind === "damaged")?.count ?? 0;
  const lost = faults.find((fault) => fault.kind === "lost")?.ids.length ?? 0;
  const count = [...store.loops()].filter(({ status }) => status !== "ended").length;
  return [
    ok("journal", `${dir}: ${count === 1 ? "1 loop" : `${count} loops`}`),
    ...(damaged === 0
      ? []
      : [
          note(
            "journal",
            `${damaged === 1 ? "1 line" : `${damaged} lines`} cannot be read and do not count`,
            null,
          ),
        ]),
    ...(lost === 0
      ? []
      : [
          broken(
            "journal",
            `knows nothing of ${lost === 1 ? "1 task" : `${lost} tasks`} in tasks.json`,
            "loop list",
          ),
        ]),
  ];
}

function examineLease(store: Store, now: number): Finding {
  const lease = store.lease();
  if (lease === null) return ok("lease", "nobody runs loops here");
  const holder = `${lease.owner} (process ${lease.pid} on ${lease.host})`;
  switch (store.holderState(lease, now)) {
    case "alive":
      return ok("lease", `held by ${holder}`);
    case "gone":
      return note("lease", `its holder is gone: ${holder}`, "The next runner takes it: loop up");
    case "frozen":
      return note("lease", `its holder is stopped: ${holder}`, `Let it go on: kill -CONT ${lease.pid}`);
    case "silent":
      return note("lease", `no sign of life from ${holder}`, "The next runner takes it: loop up");
  }
}

/** Their conversations ended without a word. */
function examineSessions({ sessions }: Store): readonly Finding[] {
  const left = sessions.list().filter(({ state, client }) => state !== "over" && !isAlive(client));
  if (left.length === 0) return [];
  const what = left.length === 1 ? "1 conversation" : `${left.length} conversations`;
  return [
    note(
      "sessions",
      `records of ${what} whose client is gone`,
      "Harmless; they go by themselves after 14 days.",
    ),
  ];
}

function fault(check: string, error: unknown, fix: string): Finding {
  if (error instanceof LoopError) return broken(check, error.message, error.hint ?? fix);
  return broken(check, error instanceof Error ? error.message : String(error), fix);
}
