/** `loop install codex|…` in the files of clients, without the clients. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { CLIENT_NAMES } from "../../../src/hosts/stop-hook/clients/client.ts";
import { runHookCommand } from "../../support/claude/hook-command.ts";
import { cleanEnv, loopJson, makeProject, runLoop } from "../../support/cli.ts";

/** Each hook is a process of its own, and the machine may be busy. */
vi.setConfig({ testTimeout: 120_000 });

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly text: string;
  readonly fix: string | null;
}

function makePlace() {
  const project = makeProject();
  const home = join(dirname(project), "home");
  const codex = join(home, ".codex");
  mkdirSync(codex);
  // whatever is in the folders above it
  mkdirSync(join(project, ".git"));
  return { project, home, codex, hooks: join(codex, "hooks.json"), options: { cwd: project } };
}

const THEIRS =
  '{\n  "hooks": {\n    "Stop": [\n      { "hooks": [{ "type": "command", "command": "say done" }] }\n    ]\n  }\n}\n';

/** All files but the key of loopwright itself. */
function filesOf(home: string): string {
  const isKey = ["-not", "-path", "*/loopwright/key"];
  return execFileSync("find", [home, "-type", "f", ...isKey], { encoding: "utf8" });
}

describe("E5 loop install", () => {
  test.each(CLIENT_NAMES)("E5 %s: --dry-run shows the change and writes nothing", async (client) => {
    const { home, options } = makePlace();
    const { code, stdout } = await runLoop(["install", client, "--dry-run"], options);
    expect(code).toBe(0);
    expect(stdout).toContain(`${home}/`);
    expect(stdout).toMatch(/^ {2}\+ /m);
    expect(filesOf(home)).toBe("");
  });

  test.each(CLIENT_NAMES)(
    "E5 %s: for a project, what is written names no place of this machine",
    async (client) => {
      const { project, home, options } = makePlace();
      const args = ["install", client, "--scope", "project"];
      const { files } = await loopJson<{ files: { file: string; change: string }[] }>(args, options);
      expect(files.length).toBeGreaterThan(1);
      for (const { file, change } of files) {
        expect(change).toBe("made");
        expect(file.startsWith(`${project}/`)).toBe(true);
        expect(readFileSync(file, "utf8")).not.toContain(dirname(project));
      }
      expect((await loopJson<{ files: unknown[] }>(args, options)).files).toEqual([]);
      const notes = filesOf(home).trim().split("\n");
      expect(notes.map(dirname)).toEqual(files.map(() => join(home, ".local/share/loopwright/installed")));
      await runLoop(["uninstall", client], options);
      expect(filesOf(home)).toBe("");
      for (const { file } of files) expect(existsSync(file)).toBe(false);
    },
  );

  test("E5 D13 hooks of others are kept, and named by loop doctor", async () => {
    const { hooks, options } = makePlace();
    writeFileSync(hooks, THEIRS);
    chmodSync(hooks, 0o600);
    await runLoop(["install", "codex"], options);
    expect(JSON.parse(readFileSync(hooks, "utf8")).hooks.Stop).toHaveLength(2);
    expect(statSync(hooks).mode & 0o777).toBe(0o600);
    const findings = (await doctor(options)).filter(({ check }) => check === "codex");
    expect(findings.map(({ state }) => state)).toEqual(["ok", "note", "note"]);
    expect(findings[1]?.text).toContain("say done");
    expect(findings[2]).toMatchObject({ fix: "Start codex and type /hooks" });
    await runLoop(["uninstall", "codex"], options);
    expect(readFileSync(hooks, "utf8")).toBe(THEIRS);
    expect((await doctor(options)).filter(({ check }) => check === "codex")).toEqual([]);
  });

  test("E5 a file that does not parse is refused with one sentence, and nothing is changed", async () => {
    const { home, hooks, options } = makePlace();
    writeFileSync(hooks, '{ "hooks": ');
    const { code, stderr } = await runLoop(["install", "codex"], options);
    expect(code).toBe(1);
    expect(stderr).toContain(`${hooks} is not a valid hooks file`);
    expect(readFileSync(hooks, "utf8")).toBe('{ "hooks": ');
    expect(existsSync(join(home, ".local"))).toBe(false);
  });

  test("E5 a person's own file may be a link to where they keep it; a project's may not lead out of it", async () => {
    const { project, home, hooks, options } = makePlace();
    const kept = join(home, "dotfiles.json");
    writeFileSync(kept, THEIRS);
    symlinkSync(kept, hooks);
    expect((await runLoop(["install", "codex"], options)).code).toBe(0);
    expect(realpathSync(hooks)).toBe(realpathSync(kept));
    expect(readFileSync(kept, "utf8")).toContain("loop-hook");
    symlinkSync(home, join(project, ".cursor"));
    const refused = await runLoop(["install", "cursor", "--scope", "project"], options);
    expect(refused.code).toBe(1);
    expect(existsSync(join(home, "hooks.json"))).toBe(false);
  });

  test("E5 a command of the person's own by the same name is left alone", async () => {
    const { codex, options } = makePlace();
    const skill = join(codex, "skills/loop/SKILL.md");
    mkdirSync(dirname(skill), { recursive: true });
    writeFileSync(skill, "mine\n");
    const { kept } = await loopJson<{ kept: string[] }>(["install", "codex"], options);
    expect(kept).toEqual([skill]);
    await runLoop(["uninstall", "codex"], options);
    expect(readFileSync(skill, "utf8")).toBe("mine\n");
  });

  test("E5 F8 loop doctor finds hooks whose program is gone, and installing again mends it", async () => {
    const { home, options } = makePlace();
    await runLoop(["install", "gemini"], options);
    expect(await doctor(options)).toContainEqual(expect.objectContaining({ check: "gemini", state: "ok" }));
    writeFileSync(join(home, ".local/share/loopwright/hooks/loop/main.js"), "");
    expect(await doctor(options)).toContainEqual(
      expect.objectContaining({ check: "gemini", state: "broken", fix: "loop install gemini" }),
    );
    await runLoop(["install", "gemini"], options);
    expect(await doctor(options)).toContainEqual(expect.objectContaining({ check: "gemini", state: "ok" }));
  });

  test("H5 an unknown client, scope or event is one sentence and exit 64", async () => {
    const { options } = makePlace();
    const wrong = [
      ["install", "emacs"],
      ["uninstall", "emacs"],
      ["install", "codex", "--scope", "all"],
      ["install", "claude", "--dry-run"],
      ["hook", "emacs", "stop"],
      ["hook", "codex", "sneeze"],
    ];
    for (const args of wrong) {
      const { code, stdout, stderr } = await runLoop(args, { ...options, input: "{}" });
      expect({ args, code, stdout }).toEqual({ args, code: 64, stdout: "" });
      expect(stderr).toMatch(/^loop: /);
    }
  });
});

async function doctor(options: { readonly cwd: string }): Promise<readonly Finding[]> {
  const { stdout } = await runLoop(["doctor", "--json"], options);
  return (JSON.parse(stdout) as { findings: Finding[] }).findings;
}

describe("E5 what a hook costs", () => {
  /** Every command of the hooks file, for one person and for a project, with a `node` and a `loop` that only leave a mark. */
  async function commandsOf(scope: string) {
    const { project, hooks, options } = makePlace();
    const installed = await runLoop(["install", "codex", "--scope", scope], options);
    expect(installed.stderr).toBe("");
    const file = scope === "user" ? hooks : join(project, ".codex/hooks.json");
    const { hooks: lists } = JSON.parse(readFileSync(file, "utf8")) as {
      hooks: Record<string, { hooks: { command: string }[] }[]>;
    };
    const bin = join(dirname(project), "marks");
    mkdirSync(bin);
    for (const name of ["node", "loop"]) {
      writeFileSync(join(bin, name), `#!/bin/sh\ncat >> '${bin.replaceAll("'", "'\\''")}/mark'\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const env = { ...cleanEnv(project), PATH: `${bin}:/usr/bin:/bin` };
    const run = async (event: string, payload: object, cwd = project) => {
      const result = await runHookCommand(lists[event]?.[0]?.hooks[0]?.command ?? "false", payload, {
        cwd,
        env,
      });
      expect(result).toEqual({ code: 0, stdout: "", stderr: "" });
      return existsSync(join(bin, "mark")) ? readFileSync(join(bin, "mark"), "utf8") : null;
    };
    return { project, events: Object.keys(lists), run };
  }

  test.each(["user", "project"])(
    "E5 without a .loop no hook starts a program, but what is typed at us does (%s)",
    async (scope) => {
      const { project, events, run } = await commandsOf(scope);
      expect(events).toHaveLength(5);
      for (const event of events) expect(await run(event, { prompt: "look at /loop and $loop" })).toBeNull();
      expect(await run("UserPromptSubmit", { prompt: '$loop until "x" it\'s $HOME `id`' })).toBe(
        JSON.stringify({ prompt: '$loop until "x" it\'s $HOME `id`' }),
      );
      const invoked = { prompt: 'The user explicitly invoked the "/loopwright" skill. Follow it.' };
      expect(await run("UserPromptSubmit", invoked)).toContain(JSON.stringify(invoked));
      expect(existsSync(join(project, ".loop"))).toBe(false);
    },
  );

  test.each(["user", "project"])(
    "E5 with one, it is found from a folder below, up to the root of the work tree (%s)",
    async (scope) => {
      const { project, run } = await commandsOf(scope);
      const below = join(project, "a/b");
      mkdirSync(below, { recursive: true });
      mkdirSync(join(project, ".loop"));
      writeFileSync(join(project, "a/.git"), "");
      expect(await run("Stop", { n: 1 }, below)).toBeNull();
      mkdirSync(join(below, ".loop"));
      expect(await run("Stop", { n: 2 }, below)).toBe('{"n":2}');
    },
  );
});
