/** Files that people and other tools write: read with care, faults named by their place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backlogConfigSchema } from "../../src/schema/backlog-config.ts";
import { defaultConfig, parseConfig } from "../../src/schema/config.ts";
import { parseForeignFile } from "../../src/schema/imports.ts";
import { tasksFileSchema } from "../../src/schema/tasks-file.ts";

describe("config.json", () => {
  test("H5 an empty one is the defaults, of the SPEC", () => {
    expect(parseConfig({})).toEqual({ kind: "ok", config: defaultConfig() });
    expect(defaultConfig()).toEqual({
      ...backlogConfigSchema.parse({}),
      defaultIntervalMs: 600_000,
      maxTasks: 50,
      expiresMs: 7 * 86_400_000,
      jitter: true,
      mask: true,
      turnTimeoutMs: 3_600_000,
    });
  });

  test.each([
    [{ maxTasks: 0 }, /^maxTasks: /],
    [{ maxTasks: 1.5 }, /^maxTasks: /],
    [{ expires: "0d" }, /^expires: expected a length of time/],
    [{ expires: 7 }, /^expires: /],
    [{ turnTimeout: "-1h" }, /^turnTimeout: expected a length of time/],
    [{ jitter: "no" }, /^jitter: /],
    [{ timeZone: "Nowhere" }, /^timeZone: expected a time zone/],
    [{ agent: "hal" }, /^agent: no agent is called "hal"/],
    [{ agent: ["claude", "hal"] }, /^agent: no agent is called "hal"/],
    [{ agent: [] }, /^agent: no agent is named$/],
    [{ agent: 3 }, /^agent: expected the name of an agent, or a list of names$/],
    [{ permissions: "allow" }, /^permissions: /],
    [{ permissions: { fly: "ask" } }, /^permissions: there is no kind of tool "fly"/],
    [{ permissions: { execute: { "npm *": "yes" } } }, /^permissions: execute "npm \*" must be one of/],
    [{ agentCmd: "rm -rf /" }, /agentCmd/],
    [null, /object/],
  ])("H5 %j names the place", (content, sentence) => {
    expect(parseConfig(content)).toEqual({ kind: "invalid", message: expect.stringMatching(sentence) });
  });

  test("H5 anything at all has an answer", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (content) => {
        expect(["ok", "invalid"]).toContain(parseConfig(content).kind);
      }),
    );
  });
});

describe("files of other tools", () => {
  test("A19 times as numbers or ISO, defaults of each tool, one bad task spoils no other", () => {
    const claude = parseForeignFile("claude", {
      tasks: [
        { id: "a", cron: "* * * * *", prompt: "x", createdAt: "2026-01-01T00:00:00Z" },
        { id: "b", cron: "* * * * *", prompt: "x", recurring: true, createdAt: 5 },
        { id: "c", cron: "* * * * *" },
      ],
    });
    expect(claude).toMatchObject({
      kind: "ok",
      tasks: [
        { id: "a", recurring: false, createdAt: Date.UTC(2026, 0, 1), expiresAt: null },
        { id: "b", recurring: true, createdAt: 5 },
        { fault: expect.stringMatching(/^task c: prompt: /) },
      ],
    });
    const pi = parseForeignFile("pi", [{ id: "p", cronExpr: "0 9 * * *", prompt: "x", expiresAt: 9 }]);
    expect(pi).toMatchObject({ kind: "ok", tasks: [{ cron: "0 9 * * *", recurring: true, expiresAt: 9 }] });
  });

  test("A19 H5 anything at all has an answer", () => {
    fc.assert(
      fc.property(fc.constantFrom("claude" as const, "pi" as const), fc.jsonValue(), (tool, content) => {
        expect(["ok", "invalid"]).toContain(parseForeignFile(tool, content).kind);
        expect(parseForeignFile(tool, [content])).toMatchObject({ kind: "ok", tasks: [expect.anything()] });
      }),
    );
  });
});

test("A13 tasks.json: what a person leaves out takes its default, a wrong id or prompt is a fault", () => {
  const parse = (task: object) => tasksFileSchema.safeParse({ tasks: [task] });
  expect(parse({ prompt: "x", cron: "* * * * *" }).data?.tasks).toEqual([
    { prompt: "x", cron: "* * * * *", recurring: true, state: "active" },
  ]);
  for (const task of [
    { prompt: "" },
    { prompt: "x", id: "../../x" },
    { prompt: "x", everyMs: 10 },
    { prompt: "x", state: "gone" },
  ])
    expect(parse(task).success, JSON.stringify(task)).toBe(false);
});
