/** A disk that fills up under a running `loop up`. Needs a file system of its own, so it is skipped where none can be mounted. */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pause, seeded } from "../support/pause.ts";
import { until } from "../support/until.ts";
import { audit, installCommand, isLong, Project, type Runner } from "./resident.ts";

const ROUNDS = isLong ? 20 : 2;
const TIMEOUT = isLong ? 600_000 : 90_000;
const SEED = Number(process.env.LOOP_TEST_SEED ?? Date.now() % 1_000_000);
const NO_SPACE = /disk is full|no space left/i;

let command = "";
let remove = () => {};
let mount: string | null = null;

beforeAll(async () => {
  ({ command, remove } = await installCommand());
});
afterAll(() => {
  remove();
  if (mount !== null) unmount(mount);
});

const isMountable = canMount();
const title =
  "H1 a full disk: it is said, no slot is lost or doubled, firing goes on when there is space, SIGTERM ends it";

test.skipIf(!isMountable)(
  isMountable ? title : `${title} (skipped: nothing can be mounted here)`,
  async () => {
    mount = mountSmall();
    const filler = join(mount, "filler");
    const project = new Project(command, mount);
    const random = seeded(SEED);
    try {
      await project.create("--no-now");
      let runner = project.up(0);
      for (let round = 0; round < ROUNDS; round++) {
        await untilFires(runner);
        fill(filler);
        const seen = runner.news.length;
        await until(() => problemsOf(runner, seen).length > 0, "it says that the disk is full");
        expect(problemsOf(runner, seen).join("\n")).toMatch(NO_SPACE);
        await pause(random() * 3_000);
        expect(runner.end, "it goes on running").toBeNull();
        // every other time it is told to end while the disk is full
        if (round % 2 === 1) {
          runner.signal("SIGTERM");
          expect(await runner.exited, runner.stderr).toBe(0);
          rmSync(filler);
          runner = project.up(0);
        } else {
          rmSync(filler);
          await untilFires(runner);
        }
      }
      await untilFires(runner);
      runner.signal("SIGTERM");
      expect(await runner.exited, runner.stderr).toBe(0);
      const closedAt = await project.close();
      const history = await project.history();
      // A turn whose folder did not fit on the disk is a failure with a reason; any other failure is a fault.
      const { faults, tally } = audit(
        project.task as NonNullable<Project["task"]>,
        project.records(),
        history.map((row) =>
          row.outcome === "failed" && /run folder|^exit \d/.test(row.reason ?? "")
            ? { ...row, outcome: "skipped" }
            : row,
        ),
        closedAt,
        /^the runner was stopped \(SIGTERM\)$|^the runner ended while it ran/,
      );
      console.log(`seed ${SEED}: ${ROUNDS} times full, ${JSON.stringify(tally)}`);
      expect(faults).toEqual([]);
      expect(project.leftOver()).toEqual([]);
    } catch (error) {
      console.error(`LOOP_TEST_SEED=${SEED}${project.describe()}`);
      throw error;
    } finally {
      await project.remove();
    }
  },
  TIMEOUT,
);

async function untilFires(runner: Runner): Promise<void> {
  const seen = runner.news.length;
  await until(() => runner.news.slice(seen).some((news) => news.outcome === "ok"), "it fires");
}

/** On stdout as news, or on stderr from the store. */
function problemsOf(runner: Runner, from: number): string[] {
  return runner.news.slice(from).flatMap((news) => (news.type === "problem" ? [news.message ?? ""] : []));
}

function fill(path: string): void {
  for (const bytes of [64 * 1024, 4 * 1024]) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

function canMount(): boolean {
  try {
    unmount(mountSmall());
    return true;
  } catch {
    return false;
  }
}

function mountSmall(): string {
  const folder = mkdtempSync(join(tmpdir(), "loop-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "loop-test", folder], { stdio: "ignore" });
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
  return folder;
}

function unmount(folder: string): void {
  execFileSync("umount", [folder], { stdio: "ignore" });
  rmdirSync(folder);
}
