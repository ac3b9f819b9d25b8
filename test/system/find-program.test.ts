/** J6: programs are never taken from the project's own folders, and the reason is told. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  findProgram,
  lookForProgram,
  NOT_THERE,
  pathOutside,
  withInterpreter,
} from "../../src/system/find-program.ts";

let base = "";
const at = (path: string) => join(base, path);

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "loop-find-")));
  mkdirSync(at("repo/.git"), { recursive: true });
  mkdirSync(at("home"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, mode = 0o755): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), "#!/bin/sh\n", { mode });
  return at(path);
}

const envOf = (...folders: string[]): NodeJS.ProcessEnv => ({
  HOME: at("home"),
  PATH: folders.map((folder) => (folder.startsWith("=") ? folder.slice(1) : at(folder))).join(":"),
});

test("J6 finds the program that a shell would start, but no folder, plain file or relative entry", () => {
  mkdirSync(at("a/tool"), { recursive: true });
  put("b/tool", 0o644);
  const [c, d] = [put("c/tool"), put("d/tool")];
  const env = envOf("=", "=../d", "a", "b", "c", "d");
  expect(lookForProgram("tool", env, at("repo"))).toEqual({ path: c, reason: "" });
  expect(lookForProgram("no-such-tool", env, at("repo"))).toEqual({ path: null, reason: NOT_THERE });
  expect(findProgram("tool", {}, at("repo"))).toBeNull();
  expect(findProgram("", env, at("repo"))).toBeNull();
  expect(findProgram("to\0ol", env, at("repo"))).toBeNull();
  expect(findProgram(d, {}, at("repo"))).toBe(d);
  expect(findProgram(at("b/tool"), {}, at("repo"))).toBeNull();
});

describe("J6 the project's folders do not count", () => {
  test("nor the packages of a folder above, in an archive without git", () => {
    put("archive/node_modules/.bin/tool");
    put("archive/packages/x/file");
    const env = envOf("archive/node_modules/.bin", "usr");
    expect(findProgram("tool", env, at("archive/packages/x"))).toBeNull();
    const [outside, other] = [put("usr/tool"), put("other/node_modules/.bin/tool")];
    expect(findProgram("tool", env, at("archive/packages/x"))).toBe(outside);
    expect(findProgram("tool", envOf("other/node_modules/.bin"), at("archive/packages/x"))).toBe(other);
  });

  test("also from a subfolder, and with a program of the same name behind them", () => {
    put("repo/node_modules/.bin/tool");
    put("repo/packages/x/file");
    const env = envOf("repo/packages/x/node_modules/.bin", "repo/node_modules/.bin", "usr");
    expect(lookForProgram("tool", env, at("repo/packages/x"))).toEqual({
      path: null,
      reason: `is only in ${at("repo/node_modules/.bin")}, and programs from the project's folders are not started`,
    });
    const outside = put("usr/tool");
    expect(findProgram("tool", env, at("repo/packages/x"))).toBe(outside);
    expect(pathOutside(env, at("repo/packages/x"))).toBe(at("usr"));
  });

  test("neither by a link into the project, nor by a link in the project to the outside", () => {
    put("repo/tool");
    put("usr/real");
    mkdirSync(at("links"));
    mkdirSync(at("repo/bin"));
    symlinkSync(at("repo/tool"), at("links/tool"));
    symlinkSync(at("usr/real"), at("repo/bin/tool"));
    symlinkSync(at("repo"), at("other-name"));
    expect(findProgram("tool", envOf("links", "repo/bin", "other-name"), at("repo"))).toBeNull();
    expect(findProgram("tool", envOf("repo"), at("other-name"))).toBeNull();
    expect(pathOutside(envOf("other-name", "usr", "=.", "="), at("repo"))).toBe(at("usr"));
  });

  test("a relative entry is named as the reason", () => {
    put("beside/tool");
    expect(lookForProgram("tool", envOf("=../beside"), at("repo")).reason).toBe(
      `is only in ${at("beside")}, and relative entries of the PATH do not count`,
    );
  });

  test("in a linked work tree, the folders of its checkout and of other work trees do not count", () => {
    put("repo/node_modules/.bin/tool");
    put("repo.worktrees/other/tool");
    mkdirSync(at("repo.worktrees/US-001"), { recursive: true });
    writeFileSync(at("repo.worktrees/US-001/.git"), `gitdir: ${at("repo/.git/worktrees/US-001")}\n`);
    const env = envOf("repo/node_modules/.bin", "repo.worktrees/other");
    expect(findProgram("tool", env, at("repo.worktrees/US-001"))).toBeNull();
    expect(findProgram("tool", env, at("repo"))).toBeNull();
  });
});

describe("J6 a home folder that is a repository keeps its programs", () => {
  beforeEach(() => mkdirSync(at("home/.git")));

  test.each(["home", "home/code/app"])("for work in %s", (project) => {
    mkdirSync(at(project), { recursive: true });
    const own = put("home/.local/bin/tool");
    put(`${project}/node_modules/.bin/tool`);
    expect(findProgram("tool", envOf(`${project}/node_modules/.bin`, "home/.local/bin"), at(project))).toBe(
      own,
    );
  });
});

describe("J6 the interpreter of a script", () => {
  function script(first: string): string {
    const path = put("usr/agent");
    writeFileSync(path, `${first}\nbody\n`);
    return path;
  }

  test("comes from outside the project", () => {
    const agent = script("#!/usr/bin/env node");
    put("repo/node_modules/.bin/node");
    const env = envOf("repo/node_modules/.bin", "usr");
    expect(() => withInterpreter([agent, "x"], env, at("repo"))).toThrow(
      `${agent} needs node, which is only in ${at("repo/node_modules/.bin")}, and programs from the project's folders are not started.`,
    );
    const node = put("usr/node");
    expect(withInterpreter([agent, "x"], env, at("repo"))).toEqual([node, agent, "x"]);
    const words = withInterpreter([script("#!/usr/bin/env -S node --no-warnings=DEP0040")], env, at("repo"));
    expect(words).toEqual([node, "--no-warnings=DEP0040", agent]);
  });

  test.each(["#!/bin/sh", "#!/usr/bin/env A=b node", "\u007fELF", ""])(
    "is left to the system: %s",
    (first) => {
      put("usr/node");
      expect(withInterpreter([script(first), "x"], envOf("usr"), at("repo"))).toEqual([at("usr/agent"), "x"]);
    },
  );

  test("is left to the system when it is nowhere, or when the words are no path", () => {
    const agent = script("#!/usr/bin/env node");
    expect(withInterpreter([agent], envOf("usr"), at("repo"))).toEqual([agent]);
    expect(withInterpreter(["agent"], envOf("usr"), at("repo"))).toEqual(["agent"]);
  });
});
