/** Short-lived processes that write to one ledger at once, as the hooks of a client do. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, describe, expect, test } from "vitest";
import { readLedger } from "../../../src/store/ledger/ledger.ts";
import { totalsOf } from "../../support/ledger.ts";
import { until } from "../../support/until.ts";
import { removeTempDirs, tempDir } from "../fixtures/temp-dir.ts";

const PROCESSES = 20;
const EACH = 10;

afterEach(removeTempDirs);

/** Each writes entries of its own and one that all of them write, and publishes now and then. */
const PROGRAM = `
import { appendLedger, publishLedger } from ${JSON.stringify(
  fileURLToPath(new URL("../../../src/store/ledger/ledger.ts", import.meta.url)),
)};
const [dir, name, bytes] = process.argv.slice(2);
const tool = (id) => ({ kind: "tool", id, at: Date.now(), session: name, loop: "l", tool: "Bash", ok: true });
process.stdout.write("ready");
process.stdin.once("data", () => {
  for (let n = 0; n < ${EACH}; n++) {
    appendLedger(dir, [tool(name + "-" + n)], Number(bytes));
    appendLedger(dir, [tool("shared-" + n)], Number(bytes));
    if (n % 3 === 0) publishLedger(dir, Date.now(), () => {});
  }
  process.exit(0);
});
`;

async function runProcesses(dir: string, segmentBytes: number): Promise<void> {
  const script = join(tempDir(), "writer.mjs");
  await build({
    stdin: { contents: PROGRAM, resolveDir: dir },
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
  });
  let ready = 0;
  const writers = Array.from({ length: PROCESSES }, (_, n) => {
    const args = [script, dir, `p${n}`, String(segmentBytes)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    child.stdout.on("data", () => ready++);
    return child;
  });
  await until(() => ready === PROCESSES, "all writers are there");
  const ends = writers.map((child) => once(child, "exit"));
  for (const child of writers) child.stdin.write("go");
  expect((await Promise.all(ends)).map(([code]) => code)).toEqual(Array(PROCESSES).fill(0));
}

describe("D7 H1 twenty processes at once", () => {
  test.each([
    ["in one file", 1e9],
    ["while files fill up all the time", 2_000],
  ])("D7 H1 lose no entry and count none twice, %s", async (_, segmentBytes) => {
    const dir = tempDir();
    await runProcesses(dir, segmentBytes);
    expect(totalsOf(readLedger(dir)).toolCalls).toBe(PROCESSES * EACH + EACH);
    const { fold, loops } = JSON.parse(readFileSync(join(dir, "ledger.json"), "utf8"));
    expect(fold.segments.length > 1).toBe(segmentBytes === 2_000);
    expect(loops.l.toolCalls).toBeGreaterThan(0);
  });
});
