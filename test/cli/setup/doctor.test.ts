/** F8 D13 what `loop doctor` finds, on machines where something is wrong. */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { doctorCommand, renderFindings } from "../../../src/cli/setup/doctor.ts";
import { installCommand } from "../../../src/cli/setup/install.ts";
import type { Finding } from "../../../src/hosts/conversation/finding.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { ensureSessions } from "../../../src/store/folder/session-records.ts";
import { procStart } from "../../../src/system/process.ts";
import { listen, type Machine, makeMachine } from "../../support/claude/fake-claude.ts";
import { hashTree } from "../../support/cli.ts";

// the build puts it in; these run from the sources
vi.mock("../../../src/version.ts", async () => {
  const { default: manifest } = await import("../../../package.json", { with: { type: "json" } });
  return { VERSION: manifest.version };
});

async function diagnose({ project }: Machine): Promise<{ code: number; findings: readonly Finding[] }> {
  const io = listen();
  const code = await doctorCommand({ project, json: true }, io);
  const answer = io.parsed() as { ok: boolean; findings: Finding[] };
  expect(answer.ok).toBe(code === 0);
  return { code, findings: answer.findings };
}

const of = (findings: readonly Finding[], check: string) => findings.filter((each) => each.check === check);

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

async function installed(): Promise<Machine> {
  const machine = makeMachine();
  await installCommand("claude", { project: machine.project, cap: true }, listen());
  return machine;
}

describe("loop doctor", () => {
  test("F8 all is well after an installation, in words and in JSON, and nothing is changed", async () => {
    const machine = await installed();
    const before = [hashTree(machine.project), hashTree(machine.home)];
    const { code, findings } = await diagnose(machine);
    expect(code).toBe(0);
    expect(findings.map(({ check, state }) => [check, state])).toEqual([
      ["node", "ok"],
      ["git", "ok"],
      ["processes", process.platform === "linux" ? "ok" : "note"],
      ["claude", "ok"],
      ["plugin", "ok"],
      ["stop hooks", "ok"],
      ["stop cap", "ok"],
      ["project", "ok"],
    ]);
    const io = listen();
    await doctorCommand({ project: machine.project }, io);
    expect(io.text()).toMatch(/^✓ node .*\n[\s\S]*\nEverything is fine\.$/);
    expect([hashTree(machine.project), hashTree(machine.home)]).toEqual(before);
  });

  test("F8 a machine without claude has notes only", async () => {
    const { code, findings } = await diagnose(makeMachine(null));
    expect(code).toBe(0);
    expect(of(findings, "claude")).toMatchObject([{ state: "note", fix: "Install Claude Code." }]);
  });

  test("E1 F8 a plugin of another version, a damaged one, one that is turned off, and none", async () => {
    const machine = await installed();
    const plugin = join(machine.home, ".local/share/loopwright/plugins/claude-code");
    write(join(plugin, ".claude-plugin/plugin.json"), { name: "loopwright", version: "9.9.9" });
    rmSync(join(plugin, "bin/server.cjs"));
    const { code, findings } = await diagnose(machine);
    expect(code).toBe(1);
    expect(of(findings, "plugin")).toEqual([
      {
        check: "plugin",
        state: "broken",
        text: `${plugin} has missing or changed files: .claude-plugin/plugin.json, bin/server.cjs`,
        fix: "loop install claude",
      },
      expect.objectContaining({ text: expect.stringMatching(/^has version 9\.9\.9, but this program has /) }),
    ]);

    rmSync(plugin, { recursive: true });
    expect(of((await diagnose(machine)).findings, "plugin")).toMatchObject([
      { state: "broken", text: `${plugin} contains no plugin` },
    ]);
    const off = { id: "loopwright@loopwright", scope: "user", enabled: false, installPath: plugin };
    expect(of((await diagnose(makeMachine({ plugins: [off] }))).findings, "plugin")).toMatchObject([
      { state: "note", text: "is installed and turned off" },
    ]);
    const elsewhere = { ...off, enabled: true, scope: "project", projectPath: "/somewhere/else" };
    expect(of((await diagnose(makeMachine({ plugins: [elsewhere] }))).findings, "plugin")).toMatchObject([
      { state: "note", text: "is not installed in Claude Code" },
    ]);
  });

  test("F8 a client that is too old, and one that gives no list", async () => {
    const old = await diagnose(makeMachine({ version: "2.0.1" }));
    expect(old.code).toBe(1);
    expect(of(old.findings, "claude")).toMatchObject([{ state: "broken", fix: "Update it: claude update" }]);
    const odd = makeMachine();
    write(join(odd.config, "state.json"), "not JSON");
    expect(of((await diagnose(odd)).findings, "plugin")).toMatchObject([{ state: "broken" }]);
  });

  test("D13 every other stop hook is named with its file and command, and left alone", async () => {
    const machine = makeMachine();
    const stop = (hook: object) => ({ hooks: { Stop: [{ hooks: [{ type: "command", ...hook }] }] } });
    const user = join(machine.config, "settings.json");
    const shared = join(machine.project, ".claude/settings.json");
    const local = join(machine.project, ".claude/settings.local.json");
    write(user, stop({ command: "ralph.sh\nevil \u001b[31m" }));
    write(shared, stop({ type: "prompt", prompt: "is it done?" }));
    write(
      local,
      `{ // mine\n "hooks": ${JSON.stringify(stop({ command: "node", args: ["a b.js"] }).hooks)}, }`,
    );
    const plugins = ["on", "off", "manifest"].map((name) => join(machine.home, name));
    for (const folder of plugins.slice(0, 2))
      write(join(folder, "hooks/hooks.json"), stop({ command: `${folder}/hook.sh` }));
    write(join(machine.home, "manifest/.claude-plugin/plugin.json"), { hooks: "./h.json" });
    write(join(machine.home, "manifest/h.json"), stop({ type: "http", url: "http://127.0.0.1:1" }));
    const list = plugins.map((installPath, n) => ({
      ...{ id: `p${n}@x`, scope: "user", installPath },
      enabled: n !== 1,
    }));
    write(join(machine.config, "state.json"), { plugins: list, marketplaces: [] });
    const before = [hashTree(machine.project), hashTree(user)];

    const { code, findings } = await diagnose(machine);
    expect(code).toBe(0);
    expect(of(findings, "stop hooks").map(({ text }) => text)).toEqual([
      `${user} has another stop hook: ralph.sh evil`,
      `${shared} has another stop hook: is it done?`,
      `${local} has another stop hook: node a b.js`,
      `${join(machine.home, "on/hooks/hooks.json")} has another stop hook: ${join(machine.home, "on")}/hook.sh`,
      `${join(machine.home, "manifest/h.json")} has another stop hook: http://127.0.0.1:1`,
    ]);
    expect([hashTree(machine.project), hashTree(user)]).toEqual(before);
  });

  test("D13 our own stop hook is none of them", async () => {
    expect(of((await diagnose(await installed())).findings, "stop hooks")).toMatchObject([{ state: "ok" }]);
  });

  test("F8 hooks that are turned off, and settings that cannot be read, are broken", async () => {
    const machine = makeMachine();
    write(join(machine.config, "settings.json"), { disableAllHooks: true });
    write(join(machine.project, ".claude/settings.json"), "{");
    const { code, findings } = await diagnose(machine);
    expect(code).toBe(1);
    expect(of(findings, "hooks")).toMatchObject([{ state: "broken", fix: "Remove that line." }]);
    expect(of(findings, "settings")).toMatchObject([{ state: "broken", fix: "Correct the file." }]);
  });

  test.each([
    [{}, {}, "note"],
    [{ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0" }, {}, "ok"],
    [{ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "20" }, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0" }, "ok"],
    [{ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0" }, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "9" }, "note"],
  ])("F8 the cap of the client: user %j, project %j is %s", async (user, project, state) => {
    const machine = makeMachine();
    write(join(machine.config, "settings.json"), { env: user });
    write(join(machine.project, ".claude/settings.local.json"), { env: project });
    expect(of((await diagnose(machine)).findings, "stop cap")).toMatchObject([{ state }]);
  });

  test("F8 no git, no node, an old node, a scheduler that is off", async () => {
    const machine = makeMachine();
    symlinkSync(process.execPath, join(machine.bin, "node"));
    vi.stubEnv("PATH", machine.bin);
    vi.stubEnv("LOOP_DISABLE_SCHEDULER", "1");
    const notes = (await diagnose(machine)).findings;
    expect(of(notes, "git")).toMatchObject([{ state: "note" }]);
    expect(of(notes, "environment")).toMatchObject([{ state: "note" }]);
    expect(of(notes, "node")).toMatchObject([{ state: "ok" }]);
    rmSync(join(machine.bin, "node"));
    writeFileSync(join(machine.bin, "node"), "#!/bin/sh\necho v18.20.0\n", { mode: 0o755 });
    expect(of((await diagnose(machine)).findings, "node")).toMatchObject([
      { state: "broken", text: `18.20.0 is too old (${join(machine.bin, "node")})` },
    ]);
    rmSync(join(machine.bin, "node"));
    expect(of((await diagnose(machine)).findings, "node")).toMatchObject([{ state: "broken" }]);
  });
});

describe("loop doctor in a project", () => {
  async function withLease(machine: Machine, pid: number) {
    const dir = ensureLoopDir(machine.project);
    const store = new FolderStore(dir, { now: Date.now, say: () => {} });
    const { hostname } = await import("node:os");
    const acquiredAt = Date.now();
    await store.acquire({ owner: "up", pid, procStart: procStart(pid), host: hostname(), acquiredAt }, 0);
    return dir;
  }

  test("F8 the holder of the lease is told, alive or gone", async () => {
    const machine = makeMachine(null);
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    await withLease(machine, child.pid ?? 0);
    expect(of((await diagnose(machine)).findings, "lease")).toMatchObject([
      { state: "ok", text: expect.stringContaining(`process ${child.pid}`) },
    ]);
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    expect(of((await diagnose(machine)).findings, "lease")).toMatchObject([
      { state: "note", text: expect.stringContaining("the process that held it has ended") },
    ]);
  });

  test("F8 records of conversations whose client is gone are counted", async () => {
    const machine = makeMachine(null);
    const dir = await withLease(machine, process.pid);
    const folder = ensureSessions(dir);
    const record = (session: string, pid: number, state: string) =>
      write(join(folder, `${session}.json`), {
        version: 1,
        session,
        state,
        spans: [],
        client: { pid, start: "not this one" },
      });
    record("a-1", process.pid, "idle");
    record("a-2", process.pid, "over");
    write(join(folder, "odd.json"), "{");
    expect(of((await diagnose(machine)).findings, "sessions")).toMatchObject([
      { state: "note", text: "records of 1 conversation whose client has ended" },
    ]);
  });

  test("H2 F8 loops from somewhere else are told with what to do", async () => {
    const machine = makeMachine(null);
    const dir = await withLease(machine, process.pid);
    rmSync(join(dir, "origin"));
    expect(of((await diagnose(machine)).findings, "origin")).toMatchObject([
      { state: "note", fix: "loop trust" },
    ]);
  });

  test("F8 a `.loop` that is a file, leads away or has settings that do not parse is broken", async () => {
    const file = makeMachine(null);
    write(join(file.project, ".loop"), "");
    expect((await diagnose(file)).code).toBe(1);
    const link = makeMachine(null);
    symlinkSync(link.home, join(link.project, ".loop"));
    expect(of((await diagnose(link)).findings, "project")).toMatchObject([{ state: "broken" }]);
    const config = makeMachine(null);
    write(join(config.project, ".loop/config.json"), "{");
    expect(of((await diagnose(config)).findings, "config")).toMatchObject([{ state: "broken" }]);
  });

  test("F8 a journal with a line that cannot be read is told", async () => {
    const machine = makeMachine(null);
    const dir = await withLease(machine, process.pid);
    writeFileSync(join(dir, "journal.jsonl"), "garbage\n", { flag: "a" });
    const { code, findings } = await diagnose(machine);
    expect(code).toBe(0);
    expect(of(findings, "journal").map(({ text }) => text)).toContain("1 damaged line ignored");
  });
});

test("F8 H5 what a file says cannot move the cursor, and the fix stands under its finding", () => {
  const findings: Finding[] = [
    { check: "a", state: "ok", text: "fine", fix: null },
    { check: "long", state: "broken", text: "bad\n\u001b[2Jthing", fix: "mend it" },
  ];
  expect(renderFindings(findings, { colour: false })).toBe(
    "✓ a     fine\n✗ long  bad [2Jthing\n        mend it\nFound 1 problem. Fix what is marked ✗.",
  );
});
