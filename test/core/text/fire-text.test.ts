import { describe, expect, test } from "vitest";
import type { Cadence, Fire, FireKind } from "../../../src/core/loop.ts";
import { parseWakeupLine } from "../../../src/core/task/wakeup.ts";
import { renderFireText } from "../../../src/core/text/fire-text.ts";
import { cron, fires, MINUTE, paced, START, task } from "../../support/tasks.ts";

const text = (
  kind: FireKind,
  prompt = "check the deploy",
  cadence: Cadence = cron("*/5 * * * *"),
): string => {
  const loop = task(cadence, { prompt });
  const fire = { ...fires(task(cron("*/5 * * * *")), START + 5 * MINUTE).loop.fire, kind } as Fire;
  return renderFireText(loop, fire);
};

describe("what an agent is told", () => {
  test.each<[FireKind, string]>([
    ["scheduled", "[Scheduled task a1b2c3d4 — Every 5 minutes]"],
    ["initial", "[Scheduled task a1b2c3d4 — Every 5 minutes — initial run]"],
    ["manual", "[Scheduled task a1b2c3d4 — Every 5 minutes — run by hand]"],
    [
      "late",
      "[Scheduled task a1b2c3d4 — Every 5 minutes — late: was due at 2026-01-05T10:05:00.000Z, when nothing was running]",
    ],
    [
      "final",
      "[Scheduled task a1b2c3d4 — Every 5 minutes — final run: the task expires with it and will not fire again]",
    ],
  ])("A4 A7 A10 a %s run is said to be one, and the prompt follows as it was written", (kind, label) => {
    expect(text(kind)).toBe(`${label}\n\ncheck the deploy`);
  });

  test("A1 a slash command goes out bare, whatever kind of run it is", () => {
    expect(text("final", "/review --all")).toBe("/review --all");
  });

  test("A1 a prompt of several lines in any language stays as it is", () => {
    expect(text("scheduled", "検査\n  して\n").endsWith("\n\n検査\n  して\n")).toBe(true);
  });

  test("A17 a self-paced agent is told how to ask for its wake-up; the text itself asks for none", () => {
    const said = text("scheduled", "watch CI", paced());
    expect(said).toContain("loop wakeup");
    expect(said).toContain('{"wakeup":{"delaySeconds":300');
    expect(parseWakeupLine(said)).toBeNull();
    expect(text("scheduled", "/watch", paced())).toMatch(/^\/watch\n\nThis loop is self-paced/);
    expect(text("scheduled")).not.toContain("wakeup");
  });

  test("A16 each expression keeps its own words", () => {
    const words = ["0 9 * * 1-5", "7 */2 * * *", "0 9 * * 1-5"].map((expr) =>
      text("scheduled", "x", cron(expr)),
    );
    expect(words[0]).toContain("Weekdays at 9:00 AM");
    expect(words[1]).toContain("Every 2 hours");
    expect(words[2]).toBe(words[0]);
  });
});
