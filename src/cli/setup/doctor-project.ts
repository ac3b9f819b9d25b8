/** The part of `loop doctor` that examines `.loop`. It only reads. */
import { join } from "node:path";
import { openStore } from "../../compose/open-store.ts";
import { count } from "../../core/text/figures.ts";
import { LoopError, reasonOf } from "../../errors.ts";
import { broken, type Finding, note, ok } from "../../hosts/conversation/finding.ts";
import type { Store } from "../../ports/store.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { checkLoopDir } from "../../store/folder/loop-dir.ts";
import { originOf } from "../../store/signed/origin.ts";
import { isAlive } from "../../system/process.ts";

export function examineProject(root: string, now: number): readonly Finding[] {
  const dir = join(root, ".loop");
  try {
    if (!checkLoopDir(root))
      return [ok("project", `${root} has no .loop folder yet; the first loop creates it`)];
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
  return [note("origin", "the loops here are not signed with your key, so they do not run", "loop trust")];
}

function examineConfig(dir: string): readonly Finding[] {
  try {
    readConfig({ dir });
    return [];
  } catch (error) {
    return [fault("config", error, "Repair or delete this file.")];
  }
}

function examineJournal(store: Store, dir: string): readonly Finding[] {
  const faults = store.faults();
  const damaged = faults.find((fault) => fault.kind === "damaged")?.count ?? 0;
  const foreign = faults.find((fault) => fault.kind === "foreign")?.count ?? 0;
  const held = faults.find((fault) => fault.kind === "held")?.loops ?? [];
  const lost = faults.find((fault) => fault.kind === "lost")?.ids.length ?? 0;
  const live = [...store.loops()].filter(({ status }) => status !== "ended").length;
  const findings = [ok("journal", `${dir}: ${count(live, "loop")}`)];
  if (damaged > 0) findings.push(note("journal", `${count(damaged, "damaged line")} ignored`, null));
  if (foreign > 0)
    findings.push(note("journal", `${count(foreign, "line")} ignored that you did not write here`, null));
  for (const { id, has, had } of held)
    findings.push(broken("journal", `${id} was at version ${had} and is at ${has} now`, "loop trust"));
  if (lost > 0)
    findings.push(broken("journal", `the journal lacks ${count(lost, "task")} of tasks.json`, "loop list"));
  return findings;
}

function examineLease(store: Store, now: number): Finding {
  const lease = store.lease();
  if (lease === null) return ok("lease", "no process runs loops here");
  const holder = `${lease.owner} (process ${lease.pid} on ${lease.host})`;
  switch (store.holderState(lease, now)) {
    case "alive":
      return ok("lease", `held by ${holder}`);
    case "gone":
      return note("lease", `the process that held it has ended: ${holder}`, "Start a runner: loop up");
    case "frozen":
      return note(
        "lease",
        `the process that holds it is suspended: ${holder}`,
        `Resume it: kill -CONT ${lease.pid}`,
      );
    case "silent":
      return note("lease", `no heartbeat from ${holder}`, "Start a runner: loop up");
  }
}

/** Conversations whose client ended without telling us. */
function examineSessions({ sessions }: Store): readonly Finding[] {
  const left = sessions.list().filter(({ state, client }) => state !== "over" && !isAlive(client));
  if (left.length === 0) return [];
  const what = `records of ${count(left.length, "conversation")} whose client has ended`;
  return [note("sessions", what, "Harmless: they are deleted after 14 days.")];
}

function fault(check: string, error: unknown, fix: string): Finding {
  if (error instanceof LoopError) return broken(check, error.message, error.hint ?? fix);
  return broken(check, reasonOf(error), fix);
}
