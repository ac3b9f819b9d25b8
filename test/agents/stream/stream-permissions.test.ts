import { expect, test } from "vitest";
import { permissionsFor, type TurnPermissions } from "../../../src/agents/stream/stream-permissions.ts";
import type { PermissionRules } from "../../../src/core/permissions.ts";

const check = { glob: "npm test", isAllowed: true };
const work: TurnPermissions = { edits: true, commands: [check], isMute: false };
const reading: TurnPermissions = { edits: false, commands: [], isMute: true };

test.each<[string, string | undefined, PermissionRules, TurnPermissions | null]>([
  ["a task has the person's own configuration", undefined, {}, null],
  ["a task has rules where there are some", undefined, { edit: "allow" }, { ...reading, edits: true }],
  ["who works edits and runs the checks", "generator", {}, work],
  ["who judges reads", "judge", {}, reading],
  ["who evaluates reads", "evaluator", { read: "allow", fetch: "deny" }, reading],
  ["a rule takes edits away", "generator", { edit: "deny" }, { ...work, edits: false }],
  [
    "what would be asked is not allowed",
    "generator",
    { edit: "ask", execute: "ask" },
    { ...work, edits: false },
  ],
  ["a rule on some files is none on all", "generator", { edit: { "docs/**": "deny" } }, work],
  ["all commands", "generator", { execute: "allow" }, { ...work, commands: "all" }],
  ["no command", "generator", { execute: "deny" }, { ...work, isMute: true }],
  [
    "rules come after the checks, in their order, and several lines are no rule",
    "generator",
    { execute: { "npm *": "allow", "npm publish": "ask", "two\nlines": "allow" } },
    {
      ...work,
      commands: [check, { glob: "npm *", isAllowed: true }, { glob: "npm publish", isAllowed: false }],
    },
  ],
  [
    "who judges runs what a rule allows",
    "judge",
    { execute: { "git log": "allow" } },
    { edits: false, commands: [{ glob: "git log", isAllowed: true }], isMute: false },
  ],
])("E3 %s", (_title, role, rules, permissions) => {
  const env = role === undefined ? {} : { LOOP_ROLE: role };
  expect(permissionsFor({ env, commands: ["npm test"] }, rules)).toEqual(permissions);
});
