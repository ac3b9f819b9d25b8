/** H5: whatever a file of `.loop` says, in whatever field, a command says a sentence and no message of JavaScript. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SessionRecord } from "../../src/ports/sessions.ts";
import { createSessions } from "../../src/store/folder/session-records.ts";
import { checksum } from "../../src/store/journal/checksum.ts";
import { appendLedger, publishLedger } from "../../src/store/ledger/ledger.ts";
import { procStart } from "../../src/system/process.ts";
import { create, makeProject } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

const SESSION = "11111111-2222-4333-8444-555555555555";
/** JSON allows all of these. */
const FORGED: readonly unknown[] = [null, {}, [null], -1, 1e308, "x", { toString: 1 }];
const SCRIPT =
  /Cannot read propert|is not a function|is not iterable|is not an object|\bundefined\b(?<!received undefined)|Invalid time value|Cannot convert|\bNaN\b|\[object |Invalid (?:array|string|count)|out of range|Unexpected token|BigInt|circular/i;

const READERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "tasks.json": [["list"], ["show", "TASK"]],
  "config.json": [["list"], ["5m", "x", "--dry-run"], ["doctor"], ["trust", "--list"], ["backlog", "status"]],
  "state.json": [["status"], ["show", "GOAL"], ["list"]],
  "progress.json": [["statusline"], ["list"]],
  "loop.lock": [["list"], ["status"], ["doctor"]],
  "lease.asked": [["list"], ["status"], ["doctor"]],
  "ledger.json": [["status"], ["route", "--session", SESSION]],
  "prd.json": [["backlog", "status"], ["next-task"], ["list"]],
  [`sessions/${SESSION}.json`]: [["route", "--session", SESSION], ["list"], ["doctor"], ["status"]],
};

async function makeWorld() {
  const cwd = makeProject();
  const dir = join(cwd, ".loop");
  const task = await create(cwd, "5m", "mine", "--no-now");
  const bound = ["setup-loop", "--session", SESSION, "--check", "ok=true", "--force", "make it", "--json"];
  const goal = JSON.parse((await runHere(bound, { cwd })).stdout) as { id: string };
  await runHere(["init"], { cwd });
  await runHere(["backlog", "init"], { cwd });
  await runHere(["register-task", "S-1", "first"], { cwd });
  const ids = { TASK: task.id, GOAL: goal.id } as Record<string, string>;
  appendLedger(dir, [{ kind: "tool", id: "t1", at: 1, session: SESSION, tool: "Bash", ok: true }]);
  publishLedger(dir, 1, () => {});
  const client = { pid: process.pid, start: procStart(process.pid) };
  const loopId = goal.id;
  const turn = {
    id: `${loopId}-1`,
    loopId,
    token: 1,
    deliveredAt: 1,
    promptId: "p",
    toolCalls: 0,
    end: null,
  };
  const tokens = { inputTokens: 0, outputTokens: 0, answers: 0, costUsd: null };
  const spans = [{ id: turn.id, loopId, fromAt: 1, toAt: null, ...tokens }];
  const record = {
    version: 1,
    session: SESSION,
    client,
    transcript: "/t",
    state: "idle",
    promptId: "p",
    taken: 0,
  };
  const more = { isSomeoneWaiting: false, blocks: 0, turn, spans, directive: null, offset: 0, said: null };
  createSessions(dir).write({ ...record, ...more } as unknown as SessionRecord);
  const lease = {
    owner: `session:${SESSION}`,
    pid: process.pid,
    procStart: client.start,
    host: hostname(),
    token: 1,
  };
  const times = { acquired_at: "2026-01-01T00:00:00Z", heartbeat_at: "2026-01-01T00:00:00Z" };
  writeFileSync(join(dir, "loop.lock"), JSON.stringify({ ...lease, ...times }));
  writeFileSync(join(dir, "lease.asked"), JSON.stringify({ ...lease, acquiredAt: 1 }));
  return { cwd, dir, ids };
}

/** The text with the value at each path replaced, one at a time; a checksum is that of the forged text. */
function* forgeries(text: string): Generator<readonly [string, string]> {
  const whole = JSON.parse(text) as Record<string, unknown>;
  const render = (value: unknown): string => {
    if (typeof value !== "object" || value === null || !("sum" in value)) return JSON.stringify(value);
    const { sum: _, ...rest } = value;
    return JSON.stringify({ ...rest, sum: checksum(JSON.stringify(rest)) });
  };
  for (const value of FORGED) {
    yield ["(all)", JSON.stringify(value)];
    for (const path of pathsOf(whole)) {
      const copy = structuredClone(whole);
      const parent = path
        .slice(0, -1)
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], copy);
      (parent as Record<string, unknown>)[path.at(-1) ?? ""] = value;
      yield [`${path.join(".")} = ${JSON.stringify(value).slice(0, 30)}`, render(copy)];
    }
  }
}

function pathsOf(value: unknown, above: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [...above, key],
    ...pathsOf(inner, [...above, key]),
  ]);
}

test.each(Object.keys(READERS))("H5 J4 any field of %s", async (name) => {
  const { cwd, dir, ids } = await makeWorld();
  const path = join(dir, name);
  expect(existsSync(path), readdirSync(dir).join(" ")).toBe(true);
  const text = readFileSync(path, "utf8");
  const told = new Map<string, string>();
  for (const [what, forged] of forgeries(text))
    for (const args of READERS[name] ?? []) {
      writeFileSync(path, forged);
      const words = args.map((word) => ids[word] ?? word);
      const { stderr, stdout } = await runHere(words, { cwd });
      const said = `${stderr}${args.includes("--json") ? "" : stdout}`;
      if (SCRIPT.test(said))
        told.set(`${args[0]}: ${what}`, said.split("\n").find((line) => SCRIPT.test(line)) ?? "");
    }
  writeFileSync(path, text);
  expect([...told].slice(0, 40)).toEqual([]);
});
