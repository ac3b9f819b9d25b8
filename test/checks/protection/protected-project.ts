/** A project for one test, with a home of its own, and what protection says of work in it. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { createProtection } from "../../../src/checks/protection/protection.ts";
import type { Criterion, ProtectedChange } from "../../../src/core/goal/goal.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import type { ProtectionRules } from "../../../src/ports/checks.ts";

export const LOOP = "0123abcd" as LoopId;

/** Of the test that runs. */
export const here = { dir: "", home: "" };

/** Makes the project before each test of the file that calls this, and removes it afterwards. */
export function useProtectedProject(): void {
  beforeEach(() => {
    const top = realpathSync(mkdtempSync(join(tmpdir(), "loop-protection-")));
    here.dir = join(top, `it's a "repo"`);
    here.home = join(top, "home");
    for (const folder of [here.dir, here.home]) mkdirSync(folder);
    vi.stubEnv("HOME", here.home);
    for (const name of [
      "XDG_CONFIG_HOME",
      "npm_config_userconfig",
      "NPM_CONFIG_USERCONFIG",
      "GIT_CONFIG_GLOBAL",
    ])
      vi.stubEnv(name, undefined);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(dirname(here.dir), { recursive: true, force: true });
  });
}

export type Files = Readonly<Record<string, string | object | null>>;

/** Text, JSON, or null to delete. A text that starts with #! is a program, one with `-> ` a link. `~/` is the home. */
export function write(files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const place = path.startsWith("~/") ? join(here.home, path.slice(2)) : join(here.dir, path);
    mkdirSync(dirname(place), { recursive: true });
    if (content === null || (typeof content === "string" && /^(?:-> |#!)/.test(content)))
      rmSync(place, { recursive: true, force: true });
    if (content === null) continue;
    const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
    if (text.startsWith("-> ")) symlinkSync(text.slice(3), place);
    else writeFileSync(place, text);
    if (text.startsWith("#!")) chmodSync(place, 0o755);
  }
}

export function rulesFor(commands: readonly string[], more: Partial<ProtectionRules> = {}): ProtectionRules {
  const criteria = commands.map(
    (command): Criterion => ({ name: command, check: { kind: "command", command }, source: "flag" }),
  );
  return { criteria, mustNot: [], protect: [], allowChanges: [], ...more };
}

/** `survey`: what the checks write when they run for the first time. */
export async function changesAfter(
  command: string,
  before: Files,
  work: Files,
  survey: Files = {},
): Promise<string[]> {
  write(before);
  const rules = rulesFor([command]);
  const protection = createProtection(here.dir);
  const stamps = await protection.stamps(rules);
  write(survey);
  const { digest } = await protection.record(LOOP, rules, stamps);
  expect(await protection.compare(LOOP, digest, rules)).toMatchObject({ kind: "known", changes: [] });
  write(work);
  const state = await protection.compare(LOOP, digest, rules);
  // another process finds the same
  expect(await createProtection(here.dir).compare(LOOP, digest, rules)).toEqual(state);
  return state.kind === "known" ? state.changes.map(shown) : expect.unreachable(state.reason);
}

function shown({ change, path }: ProtectedChange): string {
  return `${change} ${path}`;
}
