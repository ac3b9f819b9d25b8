/** H5 J4: an agent can write every file of its run folder. Whatever they say, readers answer and do not throw. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readEnd, readMarks } from "../../../src/agents/acp/turn-files.ts";
import { createRunFolderActivity } from "../../../src/agents/activity/run-folder-activity.ts";
import { formatIn, readOutput } from "../../../src/agents/process/run-folder.ts";
import { isRunning, readExit, settleTicket } from "../../../src/agents/process/ticket.ts";
import type { LoopId } from "../../../src/core/loop.ts";

const project = mkdtempSync(join(tmpdir(), "loopwright-forged-"));
afterAll(() => rmSync(project, { recursive: true, force: true }));
const LOOP = "aaaaaaaa" as LoopId;

const pidLine = (pid: string) => `pid ${pid}\nboot x\nstat y\nend\n`;
const TEXTS = [
  ...["", "null", "{}", "[null]", "-1", "1e999", '"x"', '{"kind":"ok"}', '{"kind":"failed","failure":null}'],
  ...["__proto__", "constructor", "claude", "\u0000", "9".repeat(400), "9\n", `${"9".repeat(400)}\n`],
  ...["0", "1", "99999999999999999999"].map(pidLine),
  '{"kind":"ok","answer":5,"usage":{"costUsd":"x"}}',
];

test.each(TEXTS)("%j in every file", async (text) => {
  const folder = join(project, ".loop", "runs", LOOP, "turn-1");
  mkdirSync(folder, { recursive: true });
  const names = [
    "ticket.1",
    "exit.1",
    "end.1.json",
    "marks.1",
    "format.txt",
    "answer.txt",
    "stderr.txt",
    "events.jsonl",
  ];
  for (const name of [...names, "../intent.1"]) writeFileSync(join(folder, name), text);
  expect(["taken", "torn", "void"]).toContain((await settleTicket(folder, 1)).kind);
  expect(typeof isRunning(folder)).toBe("boolean");
  expect(readExit(folder, 1) === null || /^\d+\n$/.test(text)).toBe(true);
  expect(readEnd(folder, 1)).toBeNull();
  expect(readMarks(folder, 1)).toEqual([]);
  expect(typeof formatIn(folder)).toBe("string");
  expect(readOutput(folder, "answer.txt", 1_000)).toBe(text);
  const page = await createRunFolderActivity(project).read({ loopId: LOOP, turnId: "turn-1" });
  expect(Array.isArray(page?.events)).toBe(true);
});
