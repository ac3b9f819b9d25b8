/** E1 what `loop install claude` writes, and that `loop uninstall claude` takes back exactly that. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type InstallFlags, installCommand } from "../../../src/cli/setup/install.ts";
import { uninstallCommand } from "../../../src/cli/setup/uninstall.ts";
import { listen, type Machine, makeMachine } from "../../support/claude/fake-claude.ts";
import { hashTree } from "../../support/cli.ts";

const CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
const marketplaceOf = ({ home }: Machine) => join(home, ".local/share/loopwright/plugins");
const localOf = ({ project }: Machine) => join(project, ".claude/settings.local.json");

async function install(machine: Machine, flags: InstallFlags = {}) {
  const io = listen();
  const code = await installCommand("claude", { project: machine.project, json: true, ...flags }, io);
  return { code, ...(io.parsed() as { cap: string; statusLine: string; notes: string[]; plugin: object }) };
}

async function uninstall(machine: Machine, flags: { scope?: string } = {}) {
  const io = listen();
  const code = await uninstallCommand("claude", { project: machine.project, json: true, ...flags }, io);
  return { code, ...(io.parsed() as { removed: string[]; kept: string[] }) };
}

function writeSettings(machine: Machine, text: string): string {
  mkdirSync(join(machine.project, ".claude"), { recursive: true });
  writeFileSync(localOf(machine), text);
  return localOf(machine);
}

describe("loop install claude", () => {
  test("E1 copies the plugin to a place that stays, and tells the client of it", async () => {
    const machine = makeMachine();
    const io = listen();
    expect(await installCommand("claude", { project: machine.project }, io)).toBe(0);
    const there = marketplaceOf(machine);
    expect(machine.calls().filter((call) => !/list --json/.test(call))).toEqual([
      `plugin marketplace add ${there}`,
      "plugin install loopwright@loopwright --scope user",
    ]);
    for (const file of ["server.cjs", "monitor.cjs", "hook.cjs", "loop/loop.cjs", "loop/main.js"])
      expect(existsSync(join(there, "claude-code/bin", file)), file).toBe(true);
    expect(io.text()).toContain(there);
    expect(io.text()).toContain("Undo: loop uninstall claude");
    expect(existsSync(join(machine.project, ".claude"))).toBe(false);
  });

  test("E1 again it changes nothing, and says that it is there", async () => {
    const machine = makeMachine();
    expect(await install(machine, { cap: true, statusLine: true })).toMatchObject({
      code: 0,
      cap: "written",
      statusLine: "written",
      plugin: { copied: true, scope: "user" },
    });
    const before = [hashTree(marketplaceOf(machine)), hashTree(machine.project)];
    expect(await install(machine, { cap: true, statusLine: true })).toMatchObject({
      cap: "there",
      statusLine: "there",
      plugin: { copied: false },
    });
    expect([hashTree(marketplaceOf(machine)), hashTree(machine.project)]).toEqual(before);
    expect(machine.calls().filter((call) => / (install|add) /.test(call))).toHaveLength(2);
  });

  test("E1 a copy that is not whole is put in place anew, and one that was turned off is turned on", async () => {
    const machine = makeMachine();
    await install(machine);
    rmSync(join(marketplaceOf(machine), "claude-code/bin/server.cjs"));
    writeFileSync(join(marketplaceOf(machine), "claude-code/bin/old.cjs"), "");
    const state = join(machine.config, "state.json");
    writeFileSync(state, readFileSync(state, "utf8").replace('"enabled":true', '"enabled":false'));
    expect(await install(machine)).toMatchObject({ plugin: { copied: true } });
    expect(existsSync(join(marketplaceOf(machine), "claude-code/bin/server.cjs"))).toBe(true);
    expect(existsSync(join(marketplaceOf(machine), "claude-code/bin/old.cjs"))).toBe(false);
    expect(machine.calls()).toContain("plugin enable loopwright@loopwright --scope user");
  });

  test("E1 for a project: the client is told so, and the line goes into the shared settings", async () => {
    const machine = makeMachine();
    expect(await install(machine, { scope: "project", cap: true })).toMatchObject({ cap: "written" });
    expect(machine.calls()).toContain("plugin install loopwright@loopwright --scope project");
    expect(machine.calls()).toContain(`plugin marketplace add ${marketplaceOf(machine)}`);
    const text = readFileSync(join(machine.project, ".claude/settings.json"), "utf8");
    expect(JSON.parse(text)).toEqual({ env: { [CAP]: "0" } });
    expect(existsSync(localOf(machine))).toBe(false);
  });

  test("D13 a value that is there is kept and told, whatever it is", async () => {
    const machine = makeMachine();
    const text = `{"env":{"${CAP}":"20"},"statusLine":null}`;
    const file = writeSettings(machine, text);
    expect(await install(machine, { cap: true, statusLine: true })).toMatchObject({
      cap: "there",
      statusLine: "there",
    });
    expect(readFileSync(file, "utf8")).toBe(text);
    await uninstall(machine);
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("E1 a status line that the person has elsewhere is not hidden by one of ours", async () => {
    const machine = makeMachine();
    writeFileSync(
      join(machine.config, "settings.json"),
      '{"statusLine":{"type":"command","command":"mine"}}',
    );
    expect(await install(machine, { statusLine: true })).toMatchObject({ statusLine: "elsewhere" });
    expect(existsSync(localOf(machine))).toBe(false);
  });

  test("E1 without a terminal nothing is asked and nothing is written into settings", async () => {
    const machine = makeMachine();
    const io = listen();
    await installCommand("claude", { project: machine.project }, io);
    expect(io.text()).toContain("loop install claude --cap");
    expect(existsSync(join(machine.project, ".claude"))).toBe(false);
  });

  test.each([
    ["no JSON", "{ // mine\n}", /is not a JSON object/],
    ["a list", "[]", /is not a JSON object/],
    ["an empty file", "", /is not a JSON object/],
    ["an env that is none", '{"env":"PATH=1"}', /env is not an object/],
  ])("H5 settings with %s are refused before anything is done", async (_, text, message) => {
    const machine = makeMachine();
    const file = writeSettings(machine, text);
    await expect(install(machine, { cap: true })).rejects.toThrow(message);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(machine.calls()).toEqual([]);
    expect(existsSync(marketplaceOf(machine))).toBe(false);
  });

  test("H4 settings that lead out of the project are not written to", async () => {
    const machine = makeMachine();
    symlinkSync(machine.config, join(machine.project, ".claude"));
    const before = hashTree(join(machine.config, "settings.local.json"));
    await expect(install(machine, { cap: true })).rejects.toThrow(/leads out of the project/);
    expect(hashTree(join(machine.config, "settings.local.json"))).toBe(before);
  });

  test.each([
    [["hal", {}], /Loopwright cannot be installed in "hal"/],
    [["claude", { scope: "local" }], /--scope "local" is not known; write user or project/],
  ] as const)("H5 wrong input %j is one sentence", async ([client, flags], message) => {
    const { project } = makeMachine();
    await expect(installCommand(client, { project, ...flags }, listen())).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(message),
    });
  });

  test("E1 a client that is missing or too old is said, and nothing is written", async () => {
    const none = makeMachine(null);
    await expect(install(none)).rejects.toThrow(/claude is not on the PATH/);
    expect(existsSync(marketplaceOf(none))).toBe(false);
    const old = makeMachine({ version: "2.1.100" });
    await expect(install(old)).rejects.toThrow(/2\.1\.100 is too old: before 2\.1\.163/);
    expect(existsSync(marketplaceOf(old))).toBe(false);
    expect((await install(makeMachine({ version: "2.1.300" }))).notes).toEqual([
      "Claude Code 2.1.300 is older than the tested version 2.1.325.",
    ]);
  });

  test("D13 a marketplace of that name from somewhere else is not taken over; one in another folder is told", async () => {
    const git = makeMachine({ marketplaces: [{ name: "loopwright", source: "github" }] });
    await expect(install(git)).rejects.toThrow(/another marketplace with the name loopwright/);
    const moved = makeMachine({ marketplaces: [{ name: "loopwright", source: "directory", path: "/old" }] });
    expect((await install(moved)).notes).toEqual(["The marketplace loopwright moved here from /old."]);
  });
});

describe("loop uninstall claude", () => {
  /** How a person may have written them: more in `plugin-settings.test.ts`. */
  const TEXTS = [
    ["no file", null],
    ["tabs, no line end at the end", '{\n\t"env": {\n\t\t"A": "1"\n\t},\n\t"model": "x"\n}'],
  ] as const;

  test.each(TEXTS)("E1 settings with %s are as they were, to the byte", async (_, text) => {
    const machine = makeMachine();
    if (text !== null) {
      writeSettings(machine, text);
      chmodSync(localOf(machine), 0o640);
    }
    const before = hashTree(machine.project);
    expect(await install(machine, { cap: true, statusLine: true })).toMatchObject({
      cap: "written",
      statusLine: "written",
    });
    const between = JSON.parse(readFileSync(localOf(machine), "utf8"));
    expect(between).toMatchObject({ ...JSON.parse(text ?? "{}"), env: { [CAP]: "0" } });
    expect(between.statusLine.command).toMatch(/^node '.*statusline\.cjs'$/);
    if (text !== null) expect(statSync(localOf(machine)).mode & 0o777).toBe(0o640);

    expect(await uninstall(machine)).toMatchObject({ code: 0, kept: [] });
    expect(hashTree(machine.project)).toBe(before);
    expect(existsSync(join(machine.home, ".local/share/loopwright"))).toBe(false);
    expect(JSON.parse(readFileSync(join(machine.config, "state.json"), "utf8"))).toEqual({
      plugins: [],
      marketplaces: [],
    });
  });

  test("E1 a line that somebody changed since stays, and what others added stays", async () => {
    const machine = makeMachine();
    await install(machine, { cap: true });
    const changed = readFileSync(localOf(machine), "utf8").replace('"0"', '"50"');
    writeFileSync(localOf(machine), changed);
    const { kept } = await uninstall(machine);
    expect(kept).toEqual([expect.stringContaining("which was changed after the installation")]);
    expect(readFileSync(localOf(machine), "utf8")).toBe(changed);

    const other = makeMachine();
    await install(other, { cap: true });
    const file = localOf(other);
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), model: "y" }));
    await uninstall(other);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ model: "y" });
  });

  test("E1 the folder stays while another project uses it, and goes with the last", async () => {
    const machine = makeMachine();
    await install(machine);
    await install(machine, { scope: "project" });
    expect(await uninstall(machine, { scope: "user" })).toMatchObject({
      removed: ["the plugin for user"],
      kept: [`the plugin, still installed for project ${machine.project}`],
    });
    expect(existsSync(marketplaceOf(machine))).toBe(true);
    await uninstall(machine);
    expect(existsSync(marketplaceOf(machine))).toBe(false);
  });

  test("E1 where nothing is installed nothing is changed", async () => {
    const machine = makeMachine();
    const io = listen();
    expect(await uninstallCommand("claude", { project: machine.project }, io)).toBe(0);
    expect(io.text()).toBe("Loopwright is not installed in Claude Code.");
    expect(machine.calls().every((call) => /list --json$/.test(call))).toBe(true);
  });

  test("D13 a marketplace of the same name that is not ours stays", async () => {
    const machine = makeMachine({
      marketplaces: [{ name: "loopwright", source: "directory", path: "/theirs" }],
    });
    expect((await uninstall(machine)).kept).toEqual([
      "the marketplace loopwright, which is not from Loopwright (/theirs)",
    ]);
    expect(machine.calls().some((call) => /marketplace remove/.test(call))).toBe(false);
  });
});
