/** `loop agents`: whatever lies on the PATH under the name of an agent, the list comes. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT_NAMES } from "../../../src/core/agents.ts";
import { leftovers, loopJson, makeProject, runLoop, startLoop } from "../../support/cli.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

interface AgentsJson {
  readonly version: number;
  readonly chosen: string | null;
  readonly found: boolean;
  readonly problem: string | null;
  readonly agents: readonly {
    readonly name: string;
    readonly installed: boolean;
    readonly driver: string | null;
    readonly executable: string | null;
    readonly version: string | null;
    readonly problem: string | null;
    readonly ways: readonly { readonly driver: string; readonly executable: string | null }[];
    readonly install: string;
  }[];
}

const says = (text: string) => `#!/bin/sh\necho '${text}'\n`;
const agentsOf = (cwd: string, env = {}) => loopJson<AgentsJson>(["agents"], { cwd, env });

function install(cwd: string, name: string, content: string, mode = 0o755): string {
  const path = join(dirname(cwd), "bin", name);
  writeFileSync(path, content, { mode });
  return path;
}

function writeConfig(cwd: string, content: string | object): void {
  mkdirSync(join(cwd, ".loop"), { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(cwd, ".loop", "config.json"), text);
}

describe("loop agents (E3)", () => {
  test("J6 an agent in the project's folders is not started, as npx puts them on the PATH; the reason is shown", async () => {
    const cwd = makeProject();
    const bin = join(cwd, "node_modules", ".bin");
    const started = join(dirname(cwd), "started");
    mkdirSync(bin, { recursive: true });
    for (const name of ["codex", "git", "node", "sh", "cat"])
      writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >>'${started}'\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${join(dirname(cwd), "bin")}:/usr/bin:/bin` };
    const why = `\`codex\` is only in ${bin}, and programs from the project's folders are not started`;
    const { agents } = await agentsOf(cwd, env);
    expect(agents.find(({ name }) => name === "codex")).toMatchObject({ installed: false, problem: why });
    const { code, stderr } = await runLoop(["until", "x", "--check", "t=true", "--agent", "codex", "--yes"], {
      cwd,
      env,
    });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`No agent was found: ${why}.\n  Install Codex`),
    ]);
    expect(existsSync(started)).toBe(false);
  });

  test("E3 programs of all kinds are listed as what they are", async () => {
    const cwd = makeProject();
    install(cwd, "gemini", "#!/bin/sh\nhead -c 200 /dev/urandom\n");
    install(cwd, "opencode", "no program", 0o644);
    install(cwd, "copilot", "#!/no/such/interpreter\n");
    install(cwd, "pi", "#!/bin/sh\necho 0.73.1 >&2\n");
    install(cwd, "claude-agent-acp", "#!/bin/sh\nexit 3\n");
    const codex = install(cwd, "codex", says("codex-cli 0.45.0"));
    install(cwd, "qwen", says("9.9.9 \u001b[31mred"));
    const { version, agents, ...chosen } = await agentsOf(cwd);
    expect({ version, ...chosen }).toEqual({ version: 1, chosen: "claude", found: true, problem: null });
    expect(agents.map(({ name }) => name)).toEqual(AGENT_NAMES);
    const facts = agents.map(({ name, installed, driver, version: told, problem }) => [
      ...[name, installed, driver, told, problem],
    ]);
    expect(facts).toEqual([
      ["claude", true, "acp", null, "did not print a version"],
      ["codex", true, "stream", "0.45.0", null],
      ["gemini", true, "acp", null, "did not print a version"],
      ["opencode", false, null, null, null],
      ["copilot", true, "acp", null, "could not be started (ENOENT)"],
      ["qwen", true, "acp", "9.9.9", null],
      ["pi", true, "rpc", "0.73.1", null],
    ]);
    expect(agents[1]).toMatchObject({
      executable: codex,
      ways: [
        { driver: "acp", program: "codex-acp", executable: null },
        { driver: "stream", program: "codex", executable: codex },
      ],
      install: "npm install -g @openai/codex @agentclientprotocol/codex-acp",
    });
  });

  test("F1 people see what is here, what is not and how to get it, and whom turns go to", async () => {
    const cwd = makeProject();
    const gemini = install(cwd, "gemini", says("0.9.0"));
    const { code, stdout, stderr } = await runLoop(["agents"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^AGENT +VERSION +DRIVEN BY +PROGRAM\ngemini +0\.9\.0 +acp, stream +\//);
    expect(stdout).toContain(gemini);
    expect(stdout).toMatch(/\nNOT INSTALLED\nclaude +npm install -g @anthropic-ai\/claude-code\n/);
    expect(stderr).toContain("Loops in this project use: claude (not installed)\n");
  });

  test("F1 where none is installed that is a sentence, not an empty table", async () => {
    const { code, stdout } = await runLoop(["agents"], { cwd: makeProject() });
    expect([code, stdout.split("\n")[0]]).toEqual([0, "No known agent is on the PATH."]);
  });

  test.each([
    [{ agent: ["claude", "pi"] }, {}, "claude (not installed), then pi"],
    [{ agent: "pi" }, {}, "pi"],
    [{ agent: "pi" }, { LOOP_AGENT_CMD: "my-agent --fast" }, "my-agent --fast"],
  ])("E3 turns go to whom the settings name: %j %j", async (config, env, said) => {
    const cwd = makeProject();
    install(cwd, "pi", says("0.73.1"));
    writeConfig(cwd, config);
    const { stderr } = await runLoop(["agents"], { cwd, env });
    expect(stderr.split("\n")[0]).toBe(`Loops in this project use: ${said}`);
    const { chosen, found } = await agentsOf(cwd, env);
    expect({ chosen, found }).toEqual({
      chosen: said.replace(" (not installed), then ", ","),
      found: true,
    });
  });

  test.each([
    ["{ broken", /config\.json is not JSON: /],
    [{ agent: ["pi", "frob"] }, /config\.json: agent: no agent is called "frob"; known: claude, /],
    [{ permissions: { excute: "allow" } }, /config\.json: permissions: there is no kind of tool "excute"/],
  ])(
    "H5 settings that cannot be read (%j) are said with their place, and the list comes",
    async (config, said) => {
      const cwd = makeProject();
      install(cwd, "pi", says("0.73.1"));
      writeConfig(cwd, config);
      const { code, stdout, stderr } = await runLoop(["agents"], { cwd });
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/\npi +0\.73\.1 +rpc +\//) });
      expect(stderr).toMatch(said);
      const json = await agentsOf(cwd);
      expect(json).toMatchObject({ chosen: null, found: false, problem: expect.stringMatching(said) });
      expect(json.agents).toHaveLength(AGENT_NAMES.length);
    },
  );

  test("F1 a program that hangs is waited for, and it is said for what; Ctrl-C ends both", async () => {
    const cwd = makeProject();
    install(cwd, "codex", "#!/bin/sh\nsleep 600 & wait\n");
    const run = startLoop(["agents"], { cwd });
    await until(() => /Waiting for the version/.test(run.output.stderr), "it says what it waits for");
    run.signal("SIGINT");
    expect(await run.ended).toBe(130);
    expect(run.output.stdout).toBe("");
    await until(() => leftovers(cwd).length === 0, "nothing is left of it", 3_000);
  });

  test.skipIf(!hasTmux)("F1 in 80 columns nothing wraps, and what is wrong can be read", async () => {
    const cwd = makeProject();
    install(cwd, "gemini", "#!/bin/sh\nexit 1\n");
    install(cwd, "qwen", says("1.2.3-beta.4"));
    const terminal = openTerminal(cwd, 80, 40);
    terminal.run("NO_COLOR=1 loop agents; echo code=$?");
    const screen = await terminal.sees(/code=0\n\$$/);
    expect(screen).toMatch(/\ngemini +\? +acp, stream +did not print a version: \/.*…\n/);
    expect(screen).toContain("npm install -g @openai/codex @agentclientprotocol/codex-acp\n");
    const lines = screen.split("\n").slice(1, -2);
    expect(
      lines.filter((line) =>
        /^(?:AGENT|gemini|qwen|NOT|claude|codex|opencode|copilot|pi|Loops|Test one|Choose one)\b/.test(line),
      ),
    ).toEqual(lines);
  });

  test("H5 a word that is no command of it is refused", async () => {
    const { code, stderr } = await runLoop(["agents", "tset", "codex"], { cwd: makeProject() });
    expect([code, stderr.split("\n").length]).toEqual([64, 3]);
  });
});
