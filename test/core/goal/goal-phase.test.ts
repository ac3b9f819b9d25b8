import { describe, expect, test } from "vitest";
import {
  confirm,
  isPhase,
  moveTo,
  owe,
  type Phase,
  rollBack,
  type Stage,
  stageOf,
  unproved,
  WORKING,
} from "../../../src/core/goal/phase.ts";

const PROVED = { kind: "proved", tree: "t1" } as const;
const STAGES: readonly Stage[] = ["planning", "approval", "pre-check", "working"];
const FINAL = confirm(PROVED);

describe("a round of checks", () => {
  test.each(STAGES)("is due in %s and leads back to it", (kind) => {
    const phase = owe({ kind });
    expect(phase).toEqual({ kind: "checking", round: "extra", from: { kind } });
    expect(stageOf(phase)).toBe(kind);
  });

  test("settles an iteration only where work was done", () => {
    expect(owe(WORKING, true)).toMatchObject({ round: "iteration" });
    expect(owe(PROVED, true)).toMatchObject({ round: "iteration", from: PROVED });
    expect(owe({ kind: "approval" }, true)).toMatchObject({ round: "extra" });
  });

  test("that is due stays what it is when something else makes it due", () => {
    for (const phase of [owe(WORKING, true), owe(PROVED), FINAL]) expect(owe(phase)).toBe(phase);
    expect(owe({ kind: "survey", next: "working" }, true)).toEqual({ kind: "survey", next: "working" });
  });

  test("that proves nothing takes back what was proved, and no more", () => {
    expect(unproved({ kind: "checking", round: "final", from: PROVED })).toEqual(WORKING);
    expect(unproved({ kind: "checking", round: "extra", from: { kind: "approval" } })).toEqual({
      kind: "approval",
    });
  });
});

describe("the end", () => {
  test("is confirmed only of what is proved", () => {
    expect(FINAL).toEqual({ kind: "checking", round: "final", from: PROVED });
    for (const kind of STAGES) expect(confirm({ kind })).toEqual(owe({ kind }));
  });

  test.each<[string, Phase, Phase]>([
    ["what is proved", PROVED, owe(WORKING)],
    ["a confirmed end", FINAL, owe(WORKING)],
    ["a round after a proof", owe(PROVED), owe(WORKING)],
    ["an iteration that was not checked", owe(PROVED, true), owe(WORKING, true)],
    ["a plan that nobody approved", { kind: "approval" }, owe({ kind: "approval" })],
    ["a goal before its survey", { kind: "survey", next: "planning" }, { kind: "survey", next: "planning" }],
  ])("a rollback of %s", (_what, phase, expected) => {
    expect(rollBack(phase)).toEqual(expected);
  });
});

test("a stage is reached behind the round or the survey that is still due", () => {
  expect(moveTo({ kind: "approval" }, "working")).toEqual(WORKING);
  expect(moveTo(owe({ kind: "approval" }), "working")).toEqual(owe(WORKING));
  expect(moveTo({ kind: "survey", next: "approval" }, "working")).toEqual({
    kind: "survey",
    next: "working",
  });
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["a word", "working"],
  ["an unknown kind", { kind: "done" }],
  ["a survey of nothing", { kind: "survey" }],
  ["a survey before a proof", { kind: "survey", next: "proved" }],
  ["proved on nothing", { kind: "proved" }],
  ["an unknown round", { kind: "checking", round: "any", from: WORKING }],
  ["an iteration before any work", { kind: "checking", round: "iteration", from: { kind: "approval" } }],
  ["a confirmed end of what is not proved", { kind: "checking", round: "final", from: WORKING }],
  ["a round in a round", { kind: "checking", round: "extra", from: owe(WORKING) }],
])("H5 %s is no phase", (_what, value) => {
  expect(isPhase(value)).toBe(false);
});
