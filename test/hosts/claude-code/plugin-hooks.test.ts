/** E1 the hooks of the built plugin: one table in two forms, and what their commands do in a real shell. */
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { needsHook } from "../../../src/hosts/claude-code/hooks/hook-guard.ts";
import { HOOK_EVENTS, parsePayload } from "../../../src/hosts/claude-code/hooks/payload.ts";

const PLUGIN = fileURLToPath(new URL("../../../dist/plugins/claude-code/", import.meta.url));

interface Hook {
  readonly type: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly server?: string;
  readonly tool?: string;
  readonly input?: Readonly<Record<string, string>>;
  readonly timeout: number;
  readonly statusMessage: string;
}
type Groups = readonly { readonly matcher?: string; readonly hooks: readonly Hook[] }[];

function readHooks(file: string): ReadonlyMap<string, Groups> {
  const { hooks } = JSON.parse(readFileSync(join(PLUGIN, "hooks", file), "utf8"));
  return new Map(Object.entries(hooks as Record<string, Groups>));
}

const POSIX = readHooks("hooks.json");
const WINDOWS = readHooks("hooks.windows.json");
const hooksOf = (event: string, form = POSIX) => (form.get(event) ?? []).flatMap(({ hooks }) => hooks);
const toServer = (event: string) => hooksOf(event).filter(({ type }) => type === "mcp_tool");
const commands = (event: string, form = POSIX) =>
  hooksOf(event, form).filter(({ type }) => type === "command");

describe("the table", () => {
  test("E1 every event that is answered has a hook", () => {
    expect([...POSIX.keys()].filter((event) => event !== "UserPromptExpansion").sort()).toEqual(
      HOOK_EVENTS.filter((event) => event !== ("UserPromptExpansion" as string)).toSorted(),
    );
    expect([...WINDOWS.keys()]).toEqual([...POSIX.keys()]);
  });

  test("E1 the server is asked at every event but those at which the client cannot ask it", () => {
    for (const event of POSIX.keys()) {
      const isAsked = event !== "SessionStart" && event !== "SessionEnd";
      expect(toServer(event), event).toHaveLength(isAsked ? 1 : 0);
      for (const hook of toServer(event))
        expect(hook).toMatchObject({ server: "plugin:loopwright:loop", tool: "hook" });
    }
  });

  test("E1 each event has one command besides, except where nothing is left to decide without the server", () => {
    for (const event of POSIX.keys())
      expect(commands(event), event).toHaveLength(event === "PreToolUse" ? 0 : 1);
  });

  test("E1 what the server is told comes out as what a command hook is told", () => {
    for (const event of HOOK_EVENTS) {
      for (const { input = {} } of toServer(event)) {
        for (const [name, value] of Object.entries(input)) expect(value).toBe(`\${${name}}`);
        const told = Object.fromEntries(Object.keys(input).map((name) => [name, `<${name}>`]));
        const payload = parsePayload({ ...told, hook_event_name: event, duration_ms: "17" });
        const values = Object.values(payload ?? {});
        for (const name of Object.keys(input)) {
          if (name === "hook_event_name") expect(values).toContain(event);
          else if (name === "duration_ms") expect(values).toContain(17);
          else expect(values, `${event} ${name}`).toContain(`<${name}>`);
        }
      }
    }
  });

  test.each([
    ["Stop", "last_assistant_message"],
    ["StopFailure", "error"],
    ["UserPromptSubmit", "prompt"],
    ["UserPromptExpansion", "prompt"],
    ["PostToolUse", "tool_response"],
    ["PostToolUseFailure", "error"],
  ])("E1 %s tells the server its %s, and whose it is", (event, field) => {
    const common = ["hook_event_name", "session_id", "prompt_id", "transcript_path", "cwd", "agent_id"];
    expect(Object.keys(toServer(event)[0]?.input ?? {})).toEqual(expect.arrayContaining([...common, field]));
  });

  test("E1 hooks that may wait for checks have the time for it", () => {
    for (const event of POSIX.keys()) {
      const isLong = /^(Stop|UserPromptSubmit|UserPromptExpansion)$/.test(event);
      for (const { timeout } of hooksOf(event)) expect(timeout, event).toBe(isLong ? 7200 : 60);
    }
    for (const hook of hooksOf("Stop")) expect(hook.statusMessage).toBe("Loopwright: checks run");
  });

  test("E1 only our own tools, our own commands and idle notices are asked about", () => {
    const matches = (event: string, name: string) =>
      (POSIX.get(event) ?? []).some(({ matcher }) => new RegExp(`^(?:${matcher})`).test(name));
    expect(matches("PreToolUse", "mcp__plugin_loopwright_loop__loop_report")).toBe(true);
    for (const name of ["Bash", "mcp__loop__loop_report", "mcp__plugin_other_loop__x"])
      expect(matches("PreToolUse", name)).toBe(false);
    expect(matches("UserPromptExpansion", "loopwright:loop")).toBe(true);
    expect(matches("UserPromptExpansion", "loopwright:loopwright")).toBe(true);
    for (const name of ["loop", "other:loopwright", "loopwrights:x"])
      expect(matches("UserPromptExpansion", name)).toBe(false);
    expect(POSIX.get("Notification")?.[0]?.matcher).toBe("idle_prompt");
  });

  test("E1 on Windows no command needs a shell: node and its words, each apart", () => {
    for (const event of WINDOWS.keys()) {
      for (const hook of commands(event, WINDOWS)) {
        expect(hook).toMatchObject({
          command: "node",
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
          args: ["${CLAUDE_PLUGIN_ROOT}/bin/hook.cjs", event],
        });
      }
      expect(hooksOf(event, WINDOWS).filter(({ type }) => type === "mcp_tool")).toEqual(toServer(event));
    }
  });
});

describe("the commands, in a shell", () => {
  /** A place whose names need care, and a `node` that writes down how it was started. */
  function makePlace() {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'hook it\'s "$so" ')));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    const folders = {
      project: join(base, "a b", "project"),
      data: join(base, "data"),
      bin: join(base, "bin"),
    };
    for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folders.bin, "node"),
      '#!/bin/sh\nprintf "%s\\n" "$@" > "$RECORD"\ncat >> "$RECORD"\necho answer\n',
    );
    chmodSync(join(folders.bin, "node"), 0o755);
    const record = join(base, "record");
    const run = (event: string, options: { project?: string; shell?: string; named?: string } = {}) => {
      const { project = folders.project, shell = "/bin/sh" } = options;
      const { named = project } = options;
      rmSync(record, { force: true });
      const env = {
        PATH: `${folders.bin}:/usr/bin:/bin`,
        RECORD: record,
        HOME: base,
        CLAUDE_PROJECT_DIR: named,
        CLAUDE_PLUGIN_ROOT: "/plugin root",
        CLAUDE_PLUGIN_DATA: folders.data,
        CLAUDE_PID: "4242",
      };
      const { status, stdout, stderr } = spawnSync(shell, ["-c", commands(event)[0]?.command ?? "false"], {
        cwd: project,
        input: '{"x":1}',
        encoding: "utf8",
        env,
      });
      const started = existsSync(record) ? readFileSync(record, "utf8") : null;
      // the hook's own look, for where there is no shell
      expect(needsHook(event, env), event).toBe(started !== null);
      return { status, stdout, stderr, started };
    };
    const register = (text: string, client = 4242) =>
      writeFileSync(join(folders.data, `server-${client}`), text);
    return { ...folders, base, run, register };
  }
  const SILENT = { status: 0, stdout: "", stderr: "", started: null };
  const startedFor = (event: string) => ({
    status: 0,
    stdout: "answer\n",
    stderr: "",
    started: `/plugin root/bin/hook.cjs\n${event}\n{"x":1}`,
  });
  const GUARDED = [...POSIX.keys()].filter((event) => commands(event).length > 0);
  const SERVED = GUARDED.filter((event) => toServer(event).length > 0);

  test("D2 without a `.loop` nothing is started, and nothing is said", () => {
    const { run } = makePlace();
    for (const event of GUARDED.filter((event) => event !== "UserPromptExpansion"))
      expect(run(event), event).toEqual(SILENT);
  });

  test("E1 what is typed at us is answered in a folder without a `.loop` too", () => {
    const { run, register } = makePlace();
    expect(run("UserPromptExpansion")).toEqual(startedFor("UserPromptExpansion"));
    register(`${process.pid}\n`);
    expect(run("UserPromptExpansion")).toEqual(SILENT);
  });

  test("E1 while the server of this client lives nothing is started, except at the ends of a conversation", () => {
    const { project, run, register } = makePlace();
    mkdirSync(join(project, ".loop"));
    register(`${process.pid}\n`);
    for (const event of SERVED) expect(run(event), event).toEqual(SILENT);
    for (const event of ["SessionStart", "SessionEnd"]) expect(run(event)).toEqual(startedFor(event));
  });

  test("E1 when it is gone, never came up, or is another client's, the hook decides", async () => {
    const { project, run, register } = makePlace();
    mkdirSync(join(project, ".loop"));
    expect(run("Stop")).toEqual(startedFor("Stop"));
    register(`${process.pid}\n`, 1111);
    expect(run("Stop")).toEqual(startedFor("Stop"));
    const dead = spawn("true");
    await new Promise((resolve) => dead.once("exit", resolve));
    register(`${dead.pid}\n`);
    for (const event of SERVED) expect(run(event), event).toEqual(startedFor(event));
    for (const text of ["", "\n", "garbage\n", "-x\n", `${process.pid} ; touch x\n`]) {
      register(text);
      expect(run("Stop"), JSON.stringify(text)).toEqual(startedFor("Stop"));
    }
    expect(existsSync(join(project, "x"))).toBe(false);
  });

  test("E1 a `.loop` further up counts inside a git work tree, up to its root", () => {
    const { project, base, run } = makePlace();
    const deep = join(project, "src", "deep");
    mkdirSync(deep, { recursive: true });
    mkdirSync(join(base, ".loop"));
    mkdirSync(join(project, ".git"));
    expect(run("Stop", { project: deep })).toEqual(SILENT);
    mkdirSync(join(project, ".loop"));
    expect(run("Stop", { project: deep })).toEqual(startedFor("Stop"));
  });

  test.each(["/", "//", "relative", "."])(
    "E1 a project that is named %j is looked for to an end",
    (named) => {
      expect(makePlace().run("Stop", { named })).toEqual(SILENT);
    },
  );

  test.each(["/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh"])(
    "E1 %s, where it is there, does the same",
    (shell) => {
      if (!existsSync(shell)) return;
      const { project, run, register } = makePlace();
      expect(run("Stop", { shell })).toEqual(SILENT);
      mkdirSync(join(project, ".loop"));
      expect(run("Stop", { shell })).toEqual(startedFor("Stop"));
      register(`${process.pid}\n`);
      expect(run("Stop", { shell })).toEqual(SILENT);
    },
  );
});
