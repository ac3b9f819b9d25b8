/** The table by which a stop is let happen or answered. Each row has a fact that makes it fit, and its place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PauseCode } from "../../../src/core/goal/goal.ts";
import { type BoundLoop, type Route, routeStop, type StopFacts } from "../../../src/core/stop/route.ts";

const NOW = Date.UTC(2026, 0, 5, 10, 0, 0);
const SESSION = "5d2f7a10-aaaa-4bbb-8ccc-0123456789ab";
const ID = "b7c1d2e3";

const LOOP: BoundLoop = {
  id: ID,
  session: SESSION,
  status: "active",
  pause: null,
  end: null,
  gate: null,
  waitUntil: null,
  waitReason: null,
  isBusy: false,
};

/** A loop of this very conversation at work, and nothing else that would matter. */
const FACTS: StopFacts = {
  session: SESSION,
  now: NOW,
  broken: null,
  off: null,
  loop: LOOP,
  otherOwner: null,
  isSomeoneWaiting: false,
  commandName: "/loopwright",
};

type Change = Partial<Omit<StopFacts, "loop">> & { readonly loop?: Partial<BoundLoop> | null };

function factsWith(...changes: readonly Change[]): StopFacts {
  let facts = FACTS;
  for (const { loop, ...rest } of changes) {
    const changed = loop === undefined ? facts.loop : loop && { ...(facts.loop ?? LOOP), ...loop };
    facts = { ...facts, ...rest, loop: changed };
  }
  return facts;
}

function pausedBy(code: PauseCode): Change {
  return { loop: { status: "paused", pause: { code, reason: "why", goOn: `loop continue ${ID}` } } };
}

/** In the order in which they count; every change leaves all other rows as they are. */
const ROWS: readonly (readonly [row: string, word: string | null, change: Change])[] = [
  ["broken state", null, { broken: "the journal cannot be read" }],
  ["not this session's", null, { loop: { session: "another" } }],
  ["switched off", null, { off: "LOOP_DISABLE_SCHEDULER=1" }],
  ["a person waits", null, { isSomeoneWaiting: true }],
  ["paused", "PAUSED", pausedBy("person")],
  ["lock conflict", "LOCK_CONFLICT", { otherOwner: "runner:77.abc" }],
  ["waits for an answer", "WAITING", { loop: { gate: { question: "Go on?" } } }],
  ["sleeps", "WAITING", { loop: { waitUntil: NOW + 1, waitReason: "the quota is used up" } }],
];

describe("D3 the first row that fits decides", () => {
  test("a loop of this conversation at work goes on", () => {
    expect(routeStop(FACTS)).toEqual({ kind: "go-on", row: "verify", loop: ID });
  });

  test.each(ROWS)("%s alone lets the stop happen (%s)", (row, word, change) => {
    expect(routeStop(factsWith(change))).toMatchObject({ kind: "allow", row, word });
  });

  const pairs = ROWS.flatMap((first, index) =>
    ROWS.slice(index + 1).map((second) => [first[0], second[0], first[2], second[2]] as const),
  );
  test.each(pairs)("%s comes before %s when both hold", (row, _, first, second) => {
    expect(routeStop(factsWith(second, first))).toMatchObject({ kind: "allow", row });
  });

  test("an ended loop comes after the session and the switch, and before a person who waits", () => {
    const ended: Change = { loop: { status: "ended", end: { status: "done", reason: "proved" } } };
    const rowOf = (change: Change) => routeStop(factsWith(ended, change)).row;
    expect(rowOf({})).toBe("ended");
    expect(rowOf({ broken: "torn" })).toBe("broken state");
    expect(rowOf({ loop: { session: "another" } })).toBe("not this session's");
    expect(rowOf({ off: "off" })).toBe("switched off");
    expect(rowOf({ isSomeoneWaiting: true })).toBe("ended");
    expect(rowOf({ otherOwner: "runner:1" })).toBe("ended");
    expect(rowOf({ loop: { gate: { question: "?" }, waitUntil: NOW + 9 } })).toBe("ended");
  });

  test("where there is no loop only a broken state is worth a word", () => {
    const none: Change = { loop: null };
    expect(routeStop(factsWith(none))).toEqual({ kind: "allow", row: "no loop", word: null, message: null });
    const others: Change = { off: "off", otherOwner: "runner:1", isSomeoneWaiting: true };
    expect(routeStop(factsWith(others, none)).row).toBe("no loop");
    expect(routeStop(factsWith(none, { broken: "torn" })).row).toBe("broken state");
  });
});

describe("D2 what the person is told", () => {
  test.each<readonly [string, Change, Route["kind"], RegExp | null]>([
    ["nothing about a loop of somebody else", { loop: { session: "another" } }, "allow", null],
    ["nothing about a loop that no conversation is bound to", { loop: { session: null } }, "allow", null],
    ["nothing when their own text waits", { isSomeoneWaiting: true }, "allow", null],
    [
      "why the state cannot be read",
      { broken: "the journal is torn" },
      "allow",
      /^\[LOOP\].*journal is torn/,
    ],
    ["what switched it off", { off: "A20" }, "allow", /^\[LOOP\] b7c1d2e3 does not run: A20/],
    [
      "who else works here",
      { otherOwner: "runner:77.abc" },
      "allow",
      /LOCK_CONFLICT.*runner:77\.abc.*b7c1d2e3/,
    ],
    [
      "the question, and how it is answered",
      { loop: { gate: { question: "Go on?" } } },
      "allow",
      /Go on\?.*approve/,
    ],
    [
      "until when it sleeps, and why",
      { loop: { waitUntil: NOW + 60_000, waitReason: "the quota is used up" } },
      "allow",
      /2026-01-05T10:01:00\.000Z: the quota is used up/,
    ],
  ])("%s", (_, change, kind, message) => {
    const route = routeStop(factsWith(change));
    expect(route.kind).toBe(kind);
    const said = route.kind === "allow" ? route.message : null;
    if (message === null) expect(said).toBeNull();
    else expect(said).toMatch(message);
  });

  test.each<readonly [PauseCode, string]>([
    ["iterations", "MAX_ITERATIONS"],
    ["budget", "BUDGET_EXHAUSTED"],
    ["tokens", "BUDGET_EXHAUSTED"],
    ["time", "BUDGET_EXHAUSTED"],
    ["breaker", "BREAKER_OPEN"],
    ["must-not", "BREAKER_OPEN"],
    ["integrity", "BREAKER_OPEN"],
    ["forged", "PAUSED"],
    ["person", "PAUSED"],
    ["interrupted", "PAUSED"],
    ["rejected", "PAUSED"],
    ["auth", "PAUSED"],
    ["denied", "PAUSED"],
    ["failures", "PAUSED"],
    ["surroundings", "PAUSED"],
  ])("D3 a pause by %s has the word %s, its reason and the way on", (code, word) => {
    const route = routeStop(factsWith(pausedBy(code)));
    expect(route).toMatchObject({ kind: "allow", row: "paused", word });
    expect(route).toHaveProperty(
      "message",
      expect.stringMatching(`^\\[LOOP\\] ${word} ${ID}: why\\. .*continue`),
    );
  });

  test.each<readonly [string, Change]>([
    ["$loop approve | reject", { loop: { gate: { question: "Go on?" } } }],
    ["$loop continue --now", { loop: { waitUntil: NOW + 1 } }],
    [`$loop continue ${ID}`, pausedBy("person")],
  ])("commands are named as this client has them: %s", (command, change) => {
    const route = routeStop(factsWith(change, { commandName: "$loop" }));
    expect(route).toHaveProperty("message", expect.stringMatching(/: \S*loop \w/));
    expect(route).toHaveProperty("message", expect.stringContaining(`: ${command}`));
  });

  test.each([
    ["done", "LOOP_DONE"],
    ["cancelled", "CANCELLED"],
    ["failed", "CANCELLED"],
  ])("D3 an end as %s has the word %s and its reason", (status, word) => {
    const route = routeStop(factsWith({ loop: { status: "ended", end: { status, reason: "because" } } }));
    expect(route).toMatchObject({ word, message: `[LOOP] ${word}: ${ID}, because` });
  });

  test("a pause or an end of which nothing more is known is said all the same", () => {
    expect(routeStop(factsWith({ loop: { status: "paused" } }))).toMatchObject({ word: "PAUSED" });
    expect(routeStop(factsWith({ loop: { status: "ended" } }))).toMatchObject({ word: "CANCELLED" });
  });
});

describe("D3 edges of the last rows", () => {
  test.each<readonly [string, Partial<BoundLoop>, string]>([
    ["a wait that is over", { waitUntil: NOW }, "verify"],
    ["a wait while a job is under way", { waitUntil: NOW + 1, isBusy: true }, "verify"],
    ["a question while a job is under way", { gate: { question: "?" }, isBusy: true }, "verify"],
    ["a wait for no known reason", { waitUntil: NOW + 1 }, "sleeps"],
  ])("%s: %o is %s", (_, loop, row) => {
    expect(routeStop(factsWith({ loop })).row).toBe(row);
  });
});

const NAMES = fc.constantFrom("", SESSION, `${SESSION} `, "another", "session:");
const MAYBE = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const anyLoop: fc.Arbitrary<BoundLoop> = fc.record({
  id: fc.constant(ID),
  session: MAYBE(NAMES),
  status: fc.constantFrom("active", "paused", "ended"),
  pause: MAYBE(fc.constant({ code: "person" as const, reason: "why", goOn: "loop continue" })),
  end: MAYBE(fc.record({ status: fc.constantFrom("done", "cancelled"), reason: fc.string() })),
  gate: MAYBE(fc.record({ question: fc.string() })),
  waitUntil: MAYBE(fc.integer({ min: NOW - 2, max: NOW + 2 })),
  waitReason: MAYBE(fc.string()),
  isBusy: fc.boolean(),
});

const anyFacts: fc.Arbitrary<StopFacts> = fc.record({
  session: NAMES,
  now: fc.constant(NOW),
  broken: MAYBE(fc.string()),
  off: MAYBE(fc.string()),
  loop: MAYBE(anyLoop),
  otherOwner: MAYBE(fc.string()),
  isSomeoneWaiting: fc.boolean(),
  commandName: fc.constantFrom("/loop", "$loop"),
});

describe("D2 a loop never traps a conversation that did not start it", () => {
  test("it goes on exactly when the loop is active, bound to this named session, readable, and nobody is in the way", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { loop, session, broken, off, otherOwner, isSomeoneWaiting } = facts;
        const isOurs = loop !== null && session !== "" && loop.session === session;
        const isReady = broken === null && off === null && otherOwner === null && !isSomeoneWaiting;
        const isHeld =
          loop !== null &&
          !loop.isBusy &&
          (loop.gate !== null || (loop.waitUntil !== null && loop.waitUntil > NOW));
        const mayGoOn = isOurs && isReady && loop.status === "active" && !isHeld;
        expect(routeStop(facts).kind).toBe(mayGoOn ? "go-on" : "allow");
      }),
      { numRuns: 3_000 },
    );
  });

  test("a message is one line's worth for the person, and none for a conversation that it does not concern", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const route = routeStop(facts);
        if (route.kind === "go-on") return;
        if (route.message !== null) expect(route.message.startsWith("[LOOP] ")).toBe(true);
        const isOthers = facts.loop === null || facts.session === "" || facts.loop.session !== facts.session;
        if (isOthers && facts.broken === null) expect(route.message).toBeNull();
      }),
    );
  });
});
