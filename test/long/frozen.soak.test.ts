/** An owner that is not dead but does not move either: SIGSTOP, a suspended container, a debugger. */
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SILENT_AFTER_MS } from "../../src/ports/lease.ts";
import { decodeEntry } from "../../src/store/journal/entry.ts";
import { claimOrigin } from "../../src/store/signed/origin.ts";
import { renderSigned } from "../../src/store/signed/signed-json.ts";
import { lineIn } from "../store/fixtures/lines.ts";
import { pause, seeded } from "../support/pause.ts";
import { until } from "../support/until.ts";
import { audit, installCommand, isLong, Project } from "./resident.ts";

const ROUNDS = isLong ? 60 : 4;
const TIMEOUT = isLong ? 900_000 : 90_000;
const SEED = Number(process.env.LOOP_TEST_SEED ?? Date.now() % 1_000_000);
const AGENT_MS = [0, 300, 1_500] as const;
const STOPPED = /^the runner was stopped \(SIGTERM\)$/;

let command = "";
let remove = () => {};

beforeAll(async () => {
  ({ command, remove } = await installCommand());
});
afterAll(() => remove());

test.concurrent(
  "A11 invariant 1: a frozen owner keeps the lease while its heartbeat is fresh, and goes on when it thaws",
  async () => {
    const project = new Project(command);
    try {
      await project.create("--no-now");
      const owner = project.up(300);
      await until(() => owner.has("outcome"), "the owner fires");
      const other = project.up(0);
      await until(() => other.role === "passive", "the second runner is passive");

      owner.signal("SIGSTOP");
      await pause(2_500);
      expect(project.holder()?.pid).toBe(owner.pid);
      expect(other.role).toBe("passive");
      expect(other.has("fire")).toBe(false);
      const seen = owner.news.length;
      owner.signal("SIGCONT");
      await until(() => owner.has("fire", seen), "the owner fires again");
      expect(project.holder()?.pid).toBe(owner.pid);

      await finish(project);
    } catch (error) {
      console.error(project.describe());
      throw error;
    } finally {
      await project.remove();
    }
  },
  TIMEOUT,
);

test.concurrent(
  "A11 invariant 2: a stale owner is replaced; thawed at whatever point, it fires nothing more and is passive",
  async () => {
    const project = new Project(command);
    const random = seeded(SEED);
    const agentMs = () => AGENT_MS[Math.floor(random() * AGENT_MS.length)] ?? 0;
    try {
      await project.create("--no-now", "--no-jitter");
      let owner = project.up(agentMs());
      for (let round = 0; round < ROUNDS; round++) {
        await until(() => owner.role === "owner", "it owns the project");
        await pause(random() * 1_300);
        owner.signal("SIGSTOP");
        const frozenToken = project.holder()?.token;
        makeStale(project);
        const heir = project.up(agentMs());
        await until(() => heir.role === "owner", "the other one takes over");
        if (random() < 0.5) await until(() => heir.has("fire"), "the new owner fires");
        owner.signal("SIGCONT");
        await until(() => owner.role === "passive", "the thawed one finds out that it is not the owner");
        await pause(random() * 1_300);
        expect(owner.role).toBe("passive");
        expect(project.holder()?.pid).toBe(heir.pid);
        expectNothingUnder(project, frozenToken);
        owner.signal("SIGTERM");
        expect(await owner.exited, owner.stderr).toBe(0);
        owner = heir;
      }
      await finish(project);
    } catch (error) {
      console.error(`LOOP_TEST_SEED=${SEED}${project.describe()}`);
      throw error;
    } finally {
      await project.remove();
    }
  },
  TIMEOUT,
);

async function finish(project: Project): Promise<void> {
  for (const runner of project.runners) {
    if (runner.end !== null) continue;
    runner.signal("SIGTERM");
    expect(await runner.exited, runner.stderr).toBe(0);
  }
  const closedAt = await project.close();
  const { faults, tally } = audit(
    project.task as NonNullable<Project["task"]>,
    project.records(),
    await project.history(),
    closedAt,
    STOPPED,
  );
  expect(faults).toEqual([]);
  expect(project.leftOver()).toEqual([]);
  expect(tally.ok ?? 0).toBeGreaterThan(0);
}

/** As if the holder had frozen longer ago than it may: in the lock file, and in the line that gave it the lease. */
function makeStale(project: Project): void {
  const agoMs = SILENT_AFTER_MS + 60_000;
  const lock = join(project.root, ".loop", "loop.lock");
  const file = project.holder();
  if (file === null) throw new Error("nobody holds the lease");
  const heartbeat = new Date(Date.now() - agoMs).toISOString();
  const { sum: _, ...content } = { ...file, heartbeat_at: heartbeat };
  writeFileSync(lock, renderSigned(claimOrigin(join(project.root, ".loop")), "loop.lock", content));

  for (const name of readdirSync(join(project.root, ".loop"))) {
    if (name.startsWith("journal.") && name.endsWith(".jsonl"))
      ageLease(join(project.root, ".loop", name), file.token, agoMs);
  }
}

/** In every line that names it: the one that gave it, and the snapshot of a segment that was opened since. */
function ageLease(path: string, token: number, agoMs: number): void {
  let offset = 0;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const entry = decodeEntry(line, null);
    const isNamed = typeof entry === "object" && (entry.type === "lease" || entry.type === "snapshot");
    if (isNamed && entry.lease?.token === token) {
      const lease = { ...entry.lease, acquiredAt: entry.lease.acquiredAt - agoMs };
      replaceBytes(path, offset, lineIn(dirname(path), withoutSum({ ...entry, lease })));
    }
    offset += Buffer.byteLength(line) + 1;
  }
}

function withoutSum<E extends object>(entry: E): E {
  const { sum: _sum, sig: _sig, ...rest } = entry as E & { sum?: string; sig?: string };
  return rest as E;
}

/** In place, as long as it was: nobody who reads on from behind it notices. */
function replaceBytes(path: string, offset: number, text: string): void {
  const fd = openSync(path, "r+");
  writeSync(fd, text, offset);
  closeSync(fd);
}

/** Nothing that the frozen one wrote after its end counts. */
function expectNothingUnder(project: Project, token: number | undefined): void {
  const entries = project.entries();
  const next = entries.findIndex((entry) => entry.type === "lease" && entry.lease.token > (token ?? 0));
  expect(next).toBeGreaterThan(0);
  const late = entries.slice(next).filter((entry) => entry.type === "loop" && entry.token === token);
  expect(late).toEqual([]);
}
