/** A12 a change that the package chokidar reports is reported by our watch too, at most 500 ms later. */
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { watch } from "chokidar";
import { expect, onTestFinished, test } from "vitest";
import { watchFolder } from "../../../src/store/folder/watch.ts";
import { generations } from "../../../src/store/journal/segment.ts";
import { segmentPath } from "../../../src/store/journal/segment-path.ts";
import { until } from "../../support/until.ts";

/** What other processes do to the folder. Each is a change that somebody waits for. */
const CHANGES: readonly ((dir: string, round: number) => void)[] = [
  (dir, round) => appendFileSync(newestSegment(dir), `${round}\n`),
  (dir, round) => {
    writeFileSync(join(dir, "new"), `${round}`);
    renameSync(join(dir, "new"), join(dir, "tasks.json"));
  },
  (dir, round) => writeFileSync(join(dir, "lease.asked"), `${round}`),
  (dir) => rmSync(join(dir, "lease.asked"), { force: true }),
  (dir, round) => writeFileSync(join(dir, `journal.${round + 2}.jsonl`), ""),
];
const newestSegment = (dir: string) => segmentPath(dir, generations(dir).at(-1) ?? 1);
const OURS = /^(?:journal(?:\.\d+)?\.jsonl|tasks\.json|lease\.asked)$/;

test("A12 what chokidar reports, the watch reports", async () => {
  const dir = join(mkdtempSync(join(tmpdir(), "watch ")), ".loop");
  mkdirSync(dir);
  writeFileSync(join(dir, "journal.jsonl"), "");
  let [theirs, ours] = [0, 0];
  const library = watch(dir, { ignoreInitial: true }).on("all", (_event, path) => {
    theirs += OURS.test(basename(path)) ? 1 : 0;
  });
  onTestFinished(() => library.close());
  await new Promise<void>((resolve) => library.once("ready", () => resolve()));
  onTestFinished(
    watchFolder(
      dir,
      () => {
        ours += 1;
      },
      () => {},
    ),
  );
  for (let round = 0; round < 3 * CHANGES.length; round++) {
    const [theirsBefore, oursBefore] = [theirs, ours];
    CHANGES[round % CHANGES.length]?.(dir, round);
    await until(() => theirs > theirsBefore, `chokidar reports change ${round}`);
    await until(() => ours > oursBefore, `the watch reports change ${round}`, 500);
  }
  expect(ours).toBeGreaterThanOrEqual(3 * CHANGES.length);
});
