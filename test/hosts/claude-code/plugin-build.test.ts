/** E1 the built plugin needs nothing but Node: it is copied somewhere else, and its programs are started there. */
import { execFile, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { readPlugin } from "../../../src/hosts/claude-code/install/plugin-folder.ts";
import { until } from "../../support/until.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BUILT = join(ROOT, "dist", "plugins");
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

function makePlace() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "plugin it's ")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const plugin = join(base, "plugin");
  const project = join(base, "project");
  cpSync(join(BUILT, "claude-code"), plugin, { recursive: true });
  mkdirSync(project);
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: base,
    TZ: "UTC",
    CLAUDE_PROJECT_DIR: project,
    CLAUDE_PLUGIN_DATA: join(base, "data"),
    CLAUDE_PID: String(process.pid),
  };
  return { base, plugin, project, env };
}

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe("the folder", () => {
  test("E1 has the version of the package, all its parts, and a list of them that fits", () => {
    const plugin = join(BUILT, "claude-code");
    expect(readPlugin(plugin)).toEqual({ version, wrong: [] });
    const names = filesBelow(plugin).map((file) => file.slice(plugin.length + 1));
    expect(names).toEqual(
      expect.arrayContaining([
        ".claude-plugin/plugin.json",
        ".mcp.json",
        "LICENSE",
        "README.md",
        "bin/hook.cjs",
        "bin/loop/loop.cjs",
        "bin/loop/main.js",
        "bin/loop/statusline.cjs",
        "bin/monitor.cjs",
        "bin/server.cjs",
        "commands/loop.md",
        "hooks/hooks.json",
        "hooks/hooks.windows.json",
        "monitors/monitors.json",
        "skills/loopwright/SKILL.md",
      ]),
    );
    const listed = Object.keys(JSON.parse(readFileSync(join(plugin, "bin/files.json"), "utf8")));
    expect(listed.toSorted()).toEqual(names.filter((name) => name !== "bin/files.json").toSorted());
    const market = JSON.parse(readFileSync(join(BUILT, ".claude-plugin/marketplace.json"), "utf8"));
    expect(market).toMatchObject({
      name: "loopwright",
      plugins: [{ name: "loopwright", source: "./claude-code" }],
    });
  });

  test("E1 imports nothing but parts of Node and of itself", () => {
    const programs = filesBelow(join(BUILT, "claude-code/bin")).filter((file) => /\.(?:[cm]?js)$/.test(file));
    expect(programs.length).toBeGreaterThan(5);
    for (const file of programs) {
      const text = readFileSync(file, "utf8");
      const imports = text.matchAll(
        /^(?:import|export)\b[^"'\n]*?["']([^"'\n]+)["'];?$|\brequire\("([^"]+)"\)/gm,
      );
      for (const [, from, required] of imports) {
        const name = from ?? required ?? "";
        expect(name.startsWith(".") || isBuiltin(name), `${file} needs ${name}`).toBe(true);
      }
    }
  });

  test("E1 a program that is missing fails the build by its name", () => {
    const base = mkdtempSync(join(tmpdir(), "build "));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    cpSync(join(ROOT, "plugins"), join(base, "plugins"), { recursive: true });
    const script = join(ROOT, "scripts/build-plugin.mjs");
    const call = `import { buildPlugin } from ${JSON.stringify(script)};
      await buildPlugin({ root: process.argv[1], dist: "dist", version: "1", shared: {} });`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", call, base], {
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toContain("there is no src/hosts/claude-code/server-main.ts");
  });
});

describe("its programs, somewhere else", () => {
  test("E1 the whole command line is there", () => {
    const { plugin, project, env } = makePlace();
    const loop = (...words: string[]) =>
      spawnSync(process.execPath, [join(plugin, "bin/loop/loop.cjs"), ...words], {
        cwd: project,
        env,
        encoding: "utf8",
      });
    expect(loop("--version")).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
    expect(loop("5m", "check it", "--no-now", "--detach")).toMatchObject({ status: 0 });
    expect(loop("list", "--json")).toMatchObject({ status: 0, stdout: expect.stringContaining("check it") });
    const line = spawnSync(process.execPath, [join(plugin, "bin/loop/statusline.cjs")], {
      cwd: project,
      env,
      input: "{}",
      encoding: "utf8",
    });
    expect(line).toMatchObject({ status: 0, stderr: "" });
  });

  test("D2 the hook lets a stop happen where there is no loop, and says nothing", async () => {
    const { plugin, project, env } = makePlace();
    const input = JSON.stringify({
      hook_event_name: "Stop",
      session_id: "s-1",
      prompt_id: "p",
      cwd: project,
    });
    for (const text of [input, "", "not JSON"]) {
      const end = await new Promise((resolve) => {
        const args = [join(plugin, "bin/hook.cjs"), "Stop"];
        const child = execFile(process.execPath, args, { cwd: project, env }, (error, stdout, stderr) =>
          resolve({ error, stdout, stderr }),
        );
        child.stdin?.end(text);
      });
      expect(end).toEqual({ error: null, stdout: "", stderr: "" });
    }
  });

  test("E1 the server says that it is there before it answers, and ends with its client", async () => {
    const { plugin, project, env, base } = makePlace();
    const child = spawn(process.execPath, [join(plugin, "bin/server.cjs")], { cwd: project, env });
    onTestFinished(() => void child.kill("SIGKILL"));
    let stdout = "";
    child.stdout.on("data", (bytes) => {
      stdout += bytes;
    });
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await until(() => stdout.includes('"id":1'), "it answers");
    const file = join(base, "data", `server-${process.pid}`);
    expect(readFileSync(file, "utf8").split("\n")[0]).toBe(String(child.pid));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    expect(await ended).toBe(0);
    expect(() => readFileSync(file)).toThrow(/ENOENT/);
  });

  test("E1 the monitor says nothing and stays as long as its client does", async () => {
    const { plugin, project, env, base } = makePlace();
    const client = spawn("sleep", ["600"], { stdio: "ignore" });
    onTestFinished(() => void client.kill("SIGKILL"));
    mkdirSync(join(project, ".loop"));
    writeFileSync(join(project, ".loop/.gitignore"), "");
    const child = spawn(process.execPath, [join(plugin, "bin/monitor.cjs"), join(base, "data")], {
      cwd: project,
      env: { ...env, CLAUDE_PID: String(client.pid) },
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let stdout = "";
    child.stdout.on("data", (bytes) => {
      stdout += bytes;
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    await until(
      () => readdirSync(join(project, ".loop")).includes("sessions"),
      "it has said in the project that it is there",
    );
    expect(child.exitCode).toBeNull();
    client.kill("SIGKILL");
    expect(await ended).toBe(0);
    expect(stdout).toBe("");
  });
});
