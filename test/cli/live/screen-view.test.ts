/** The live list without a terminal: when it is built, and what waits during a question. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Io } from "../../../src/cli/io.ts";
import type { Answer } from "../../../src/cli/live/question.ts";
import { createScreenView, type Screen } from "../../../src/cli/live/screen-view.ts";
import type { Project } from "../../../src/cli/project.ts";
import { renderWhen, whenChanges } from "../../../src/cli/render/times.ts";
import type { Task } from "../../../src/core/loop.ts";
import { DAY, HOUR, MINUTE, once, task } from "../../support/tasks.ts";

let answer: (answer: Answer) => void = () => {};
vi.mock("../../../src/cli/live/question.ts", () => ({
  askYesNo: (_message: string, withdrawn: AbortSignal) =>
    new Promise<Answer>((resolve) => {
      answer = resolve;
      withdrawn.addEventListener("abort", () => resolve("withdrawn"));
    }),
}));

const NOW = new Date(2026, 5, 15, 12, 0, 0).getTime();

/** A view on these tasks; how often they were read, and all that was written. */
function open(tasks: readonly Task[]) {
  const seen = { built: 0, text: "" };
  const io: Io = {
    out: () => {},
    say: () => {},
    json: () => {},
    divert: () => () => {},
    interactive: true,
    colour: false,
  };
  const screen: Screen = {
    write: (text) => {
      seen.text += text;
      return true;
    },
    isBehind: false,
    columns: 100,
    rows: 24,
    onResize: () => () => {},
  };
  const loops = () => {
    seen.built++;
    return tasks.values();
  };
  const view = createScreenView(
    { store: { loops, lease: () => null } } as unknown as Project,
    io,
    () => screen,
  );
  view.open({ agent: "test", firing: true, endAt: null });
  return { view, seen };
}

const at = (time: number) => task(once(time), { createdAt: NOW } as object, NOW);

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the live list", () => {
  test("F1 is not built while nothing in it can change, and once a minute for what is hours away", () => {
    const { view, seen } = open([at(NOW + 5 * HOUR + 10_000)]);
    const before = seen.built;
    vi.advanceTimersByTime(30_000);
    expect(seen.built).toBe(before);
    vi.advanceTimersByTime(10 * MINUTE);
    expect(seen.built - before).toBeGreaterThanOrEqual(10);
    expect(seen.built - before).toBeLessThanOrEqual(11);
    view.close();
  });

  test("F1 counts the seconds down when it is near", () => {
    const { view, seen } = open([at(NOW + 3 * MINUTE)]);
    vi.advanceTimersByTime(2 * MINUTE + 30_000);
    const shown = [...seen.text.matchAll(/\(in (\d+m \d+s|\d+[ms])\)/g)].map(([, text]) => text);
    expect(shown[0]).toBe("3m");
    expect(shown.slice(-3)).toEqual(["32s", "31s", "30s"]);
    expect(new Set(shown).size).toBe(shown.length);
    view.close();
  });

  test("F1 is built at once when something happened, or when the clock was set back", () => {
    const { view, seen } = open([at(NOW + 5 * HOUR)]);
    let before = seen.built;
    view.show({ type: "tasks" });
    expect(seen.built).toBeGreaterThan(before);
    before = seen.built;
    vi.setSystemTime(NOW - DAY);
    vi.advanceTimersByTime(1_000);
    expect(seen.built).toBeGreaterThan(before);
    view.close();
  });

  test("F1 shows role and count as they are, whatever an agent is called", () => {
    const { view, seen } = open([at(NOW + HOUR)]);
    view.show({ type: "role", role: "passive", lease: null });
    expect(seen.text).toMatch(/\nloop:1 \(passive\) · agent: test {2}Ctrl-C stops\n$/);
    view.show({ type: "role", role: "owner", lease: null });
    expect(seen.text).toMatch(/\nloop:1 · agent: test {2}Ctrl-C stops\n$/);
    view.close();
  });

  test("F1 a time reads the same until the moment at which it is said to change", () => {
    const away = fc.oneof(
      fc.integer({ min: -3 * DAY, max: 3 * DAY }),
      fc.integer({ min: -5 * MINUTE, max: 5 * MINUTE }),
    );
    fc.assert(
      fc.property(away, fc.double({ min: 0, max: 1, noNaN: true }), (distance, part) => {
        const change = whenChanges(NOW + distance, NOW);
        expect(change).toBeGreaterThan(NOW);
        const between = NOW + Math.floor((change - 1 - NOW) * part);
        expect(renderWhen(NOW + distance, between)).toBe(renderWhen(NOW + distance, NOW));
        expect(renderWhen(NOW + distance, change - 1)).toBe(renderWhen(NOW + distance, NOW));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a question", () => {
  test("A10 keeps the newest 200 lines for after it, and says how many it left out", async () => {
    const { view, seen } = open([]);
    const asked = view.ask("Run it now?", "x");
    for (let n = 0; n < 1_000; n++) view.problem(new Error(`problem ${n}.`));
    expect(seen.text).not.toContain("problem");
    answer(true);
    expect(await asked).toBe(true);
    const numbers = [...seen.text.matchAll(/problem (\d+)\./g)].map(([, text]) => Number(text));
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, n) => 800 + n));
    expect(seen.text).toContain("(800 earlier lines left out during the question)");
    view.close();
  });

  test("A10 is withdrawn when the view is closed: no answer, and nothing is drawn after it", async () => {
    const { view, seen } = open([]);
    const asked = view.ask("Run it now?", "x");
    view.problem(new Error("meanwhile"));
    view.close();
    expect(await asked).toBeNull();
    expect(seen.text).toMatch(/meanwhile\nStopped\. There are no tasks\.\n$/);
    expect(await view.ask("And now?", "y")).toBeNull();
  });
});
