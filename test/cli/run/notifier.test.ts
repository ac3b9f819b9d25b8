/** Notices through the person's own command: whatever the text or the system, the runner goes on (A18). */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createNotifier } from "../../../src/cli/run/notifier.ts";
import { until } from "../../support/until.ts";

function recorder() {
  const problems: unknown[] = [];
  return { problems, notify: () => {}, problem: (error: unknown) => void problems.push(error) };
}

describe("the notifier", () => {
  test("A18 control characters do not keep a notice from the command; lines stay lines", async () => {
    const folder = mkdtempSync(join(tmpdir(), "loop-notify-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "got");
    const view = recorder();
    const command = `{ printf '%s|%s|' "$LOOP_TITLE" "$LOOP_BODY"; cat; } > '${file}.part' && mv '${file}.part' '${file}'`;
    createNotifier(command, view).notify(
      "a\0b\u001b[2J\nc",
      "first\0 line\u001b]0;x\u0007\nsecond",
      "failing",
    );
    const got = await until(() => readIf(file), "the command has run");
    expect(got).toBe("a b [2J c|first\ufffd line\nsecond|a b [2J c\nfirst\ufffd line\nsecond\n");
    expect(view.problems).toEqual([]);
  });

  test("A18 a text that the system does not take is a problem that is told, and is not thrown", () => {
    const view = recorder();
    createNotifier("true", view).notify("long", "x".repeat(4_000_000), "failing");
    expect(view.problems).toMatchObject([{ code: "E2BIG" }]);
  });

  test("A18 so is a process that has no file descriptors left", async () => {
    const view = recorder();
    const taken: number[] = [];
    const limit = (count: string) => execFileSync("prlimit", [`--pid=${process.pid}`, `--nofile=${count}:`]);
    const before = execFileSync("prlimit", [
      `--pid=${process.pid}`,
      "--nofile",
      "-o",
      "SOFT",
      "--noheadings",
    ]);
    limit("2048");
    try {
      for (;;) taken.push(openSync("/dev/null", "r"));
    } catch {
      createNotifier("true", view).notify("title", "body", "failing");
    } finally {
      for (const fd of taken) closeSync(fd);
      limit(before.toString().trim());
    }
    await until(() => view.problems.length > 0, "it is told");
    expect(view.problems).toMatchObject([{ code: "EMFILE" }]);
  });
});

function readIf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
