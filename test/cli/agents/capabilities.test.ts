/** D11 with real programs that misbehave on a PATH of their own, and configurations full of secrets. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { discoverCapabilities } from "../../../src/agents/capabilities/capabilities.ts";
import type { Capabilities } from "../../../src/agents/capabilities/capabilities-file.ts";
import { runVersion } from "../../../src/agents/capabilities/program-version.ts";
import { capabilitiesCommand, renderCapabilities } from "../../../src/cli/agents/capabilities.ts";
import type { Io } from "../../../src/cli/io.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const SECRET = "s3cr3t-t0ken";

let base = "";
let project = "";
let home = "";
let bin = "";

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "loop it's ")));
  [project, home, bin] = ["project", "home", "bin"].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const dir of [project, home, bin]) mkdirSync(dir);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A program of a few shell lines. */
function program(folder: string, name: string, ...lines: string[]): string {
  const path = join(folder, name);
  write(path, `#!/bin/sh\n${lines.join("\n")}\n`);
  chmodSync(path, 0o755);
  return path;
}

function discover(path = bin, known: Capabilities | null = null, limitMs = 5_000): Promise<Capabilities> {
  return discoverCapabilities({
    project,
    env: { PATH: path, HOME: home, ANTHROPIC_API_KEY: SECRET, LOOP_TURN: "1" },
    now: NOW,
    known,
    limitMs,
  });
}

const versions = (found: Capabilities) =>
  Object.fromEntries([...found.agents, ...found.tools].map(({ name, version }) => [name, version]));

describe("D11 programs", () => {
  test("D11 agents and tools on the PATH are found with their versions, whatever they do when asked", async () => {
    program(bin, "claude", 'echo "2.1.325 (Claude Code)"');
    program(bin, "codex", "trap '' TERM", "sleep 60 & wait; sleep 60");
    program(bin, "gemini", "printf '\\033[31m\\000\\377 hello'");
    program(bin, "opencode", "yes 1.2.3");
    program(bin, "qwen", "echo 0.0.14 >&2");
    program(bin, "copilot", "echo 1.0.0; exit 3");
    program(bin, "pi", "sleep 60 &", "echo 0.73.1");
    program(bin, "aider", "cat; echo 0.86.1");
    program(bin, "git", 'echo "git version 2.39.5"');
    program(bin, "go", '[ "$1" = version ] && echo "go version go1.22.3 linux/amd64"');
    write(join(bin, "jq"), "not to be executed");
    mkdirSync(join(bin, "make"));
    const found = await discover(`${bin}:/usr/bin:/bin`, null, 1_500);
    expect(versions(found)).toMatchObject({
      claude: "2.1.325",
      codex: null,
      gemini: null,
      opencode: null,
      qwen: "0.0.14",
      copilot: null,
      pi: "0.73.1",
      aider: "0.86.1",
      git: "2.39.5",
      go: "1.22.3",
    });
    expect(found.agents.map(({ name }) => name)).not.toContain("amp");
    expect(found.agents[0]).toMatchObject({ name: "claude", path: join(bin, "claude") });
    expect(found.tools.find(({ name }) => name === "jq")?.path ?? null).not.toBe(join(bin, "jq"));
    const told = new Map(found.problems.map(({ where, problem }) => [where, problem]));
    expect(told.get("codex")).toBe("did not print a version within 1.5 s");
    for (const name of ["gemini", "opencode", "copilot"])
      expect(told.get(name)).toBe("did not print a version");
    expect(leftovers()).toEqual([]);
  });

  test("D11 a program whose interpreter is missing is told", async () => {
    program(bin, "claude");
    write(join(bin, "claude"), "#!/nowhere/interpreter\n");
    const found = await discover();
    expect(versions(found)).toEqual({ claude: null });
    expect(found.problems).toEqual([{ where: "claude", problem: "could not be started (ENOENT)" }]);
  });

  test.each([
    ["jq-1.7.1", "1.7.1"],
    ["v20.19.2", "20.19.2"],
    ["tmux 3.3a", "3.3a"],
    ["ruby 3.1.2p20 (2022-04-12)", "3.1.2p20"],
    ["codex-cli 0.46.0-alpha.3", "0.46.0-alpha.3"],
    ["Docker version 24.0.7, build afdd53b", "24.0.7"],
    ["GNU Make 4.3", "4.3"],
    ["2026-01-01 12:30", null],
    ["seven", null],
  ])("D11 of %j the version is %j", async (text, version) => {
    const path = program(bin, "x", `echo '${text}'`);
    expect((await runVersion(path, [], { PATH: "/usr/bin:/bin" }, 5_000)).version).toBe(version);
  });

  test("H2 D11 nothing of the repository is started, by whichever way the PATH leads there", async () => {
    const trap = `: > ${quoted(join(base, "started"))}; echo 6.6.6`;
    const inside = join(project, "node_modules/.bin");
    program(inside, "claude", trap);
    program(inside, "env-node", trap);
    program(project, "gh", trap);
    program(inside, "uv", trap);
    symlinkSync(inside, join(base, "way-in"));
    symlinkSync(join(inside, "uv"), join(bin, "uv"));
    // started outside, by an interpreter that it asks the PATH for
    write(join(bin, "npm"), "#!/usr/bin/env env-node\n");
    chmodSync(join(bin, "npm"), 0o755);
    program(bin, "git", "echo 2.39.5");
    const found = await discover([inside, ".", "", join(base, "way-in"), project, bin].join(":"));
    expect(versions(found)).toEqual({ git: "2.39.5", npm: null });
    expect(existsSync(join(base, "started"))).toBe(false);
    const own = `is only in ${inside}, and programs from the project's folders are not started`;
    expect(found.problems).toEqual(
      expect.arrayContaining([
        { where: "claude", problem: own },
        { where: "gh", problem: `is only in ${project}, and relative entries of the PATH do not count` },
        { where: "uv", problem: own },
      ]),
    );
  });

  test("H2 D11 the repository ends where git says, not where .loop is", async () => {
    mkdirSync(join(project, ".git"));
    program(join(project, "tools"), "claude", "echo 6.6.6");
    const outer = project;
    project = join(outer, "packages/one");
    mkdirSync(project, { recursive: true });
    expect((await discover(join(outer, "tools"))).agents).toEqual([]);
  });

  test("H2 H3 D11 programs are started outside of the project, without input, keys or variables of ours", async () => {
    program(bin, "claude", `{ pwd; env; cat; } > ${quoted(join(base, "seen"))}; echo 1.0.0`);
    await discover(`${bin}:/usr/bin:/bin`);
    const seen = readFileSync(join(base, "seen"), "utf8");
    expect(seen.split("\n")[0]).toBe("/");
    expect(seen).toContain(`HOME=${home}`);
    expect(seen).not.toMatch(new RegExp(`${SECRET}|LOOP_TURN`));
  });

  test("D11 a program that has not changed is not asked again", async () => {
    const count = `echo x >> ${quoted(join(base, "asked"))}`;
    const path = program(bin, "claude", count, "echo 1.0.0");
    program(bin, "git", "echo none");
    const asked = () => readFileSync(join(base, "asked"), "utf8").length / 2;
    const first = await discover();
    expect(await discover(bin, first)).toEqual(first);
    expect(asked()).toBe(1);
    program(bin, "claude", count, "echo 2.0.0");
    utimesSync(path, NOW / 1000, NOW / 1000);
    expect(versions(await discover(bin, first)).claude).toBe("2.0.0");
    expect(asked()).toBe(2);
  });

  /** Processes that still have this test's HOME. */
  function leftovers(): string[] {
    const { stdout } = spawnSync("sh", ["-c", 'grep -lsz "^HOME=$0$" /proc/[0-9]*/environ', home]);
    return stdout.toString().split("\n").filter(Boolean);
  }
});

const stdio = { command: "run", args: ["--token", SECRET], env: { TOKEN: SECRET } };
const http = { type: "http", url: `https://x.test/?key=${SECRET}`, headers: { Authorization: SECRET } };

describe("D11 MCP servers", () => {
  const servers = async () =>
    (await discover()).mcpServers.map(({ name, client, transport, where, enabled }) =>
      [name, client, transport, where, enabled].join(" "),
    );

  test("D11 H3 are told by name, kind and place, and nothing else of their configuration is", async () => {
    write(join(project, ".mcp.json"), { mcpServers: { a: stdio, b: http, c: http, d: {} } });
    write(join(project, ".claude/settings.json"), { enabledMcpjsonServers: ["a"], env: { KEY: SECRET } });
    write(join(project, ".claude/settings.local.json"), { disabledMcpjsonServers: ["b"] });
    write(join(home, ".claude.json"), {
      mcpServers: { everywhere: { ...http, type: "sse" }, unwanted: stdio },
      oauthAccount: { token: SECRET },
      projects: {
        [project]: { mcpServers: { here: stdio }, disabledMcpServers: ["unwanted"], history: [SECRET] },
        "/another": { mcpServers: { elsewhere: stdio } },
      },
    });
    write(join(project, ".cursor/mcp.json"), { mcpServers: { cursors: stdio } });
    write(join(home, ".gemini/settings.json"), { mcpServers: { g: { httpUrl: `https://${SECRET}` } } });
    write(
      join(project, "opencode.json"),
      `{ // with "comments"\n "mcp": { "o": { "type": "local", "command": ["x", "${SECRET}"] }, /* and */ "off": { "type": "remote", "enabled": false, }, }, }`,
    );
    write(join(project, ".vscode/mcp.json"), { servers: { v: stdio } });
    write(
      join(home, ".codex/config.toml"),
      [
        'model = "m"',
        'notes = """',
        "[mcp_servers.not-a-server]",
        '"""',
        "[mcp_servers.plain] # it is",
        `command = "run"`,
        `args = ["--token", "${SECRET}"]`,
        "[mcp_servers.plain.env]",
        `TOKEN = "${SECRET}"`,
        '[mcp_servers."with space"]',
        `url = "https://x.test/${SECRET}"`,
        "enabled = false",
        "[mcp_servers]",
        `inline = { command = "x", env = { K = "${SECRET}" } }`,
        'dotted.url = "u"',
        "[profiles.mcp_servers.other]",
        'command = "x"',
        "[[hooks]]",
        'command = "x"',
      ].join("\n"),
    );
    const found = await discover();
    expect(found.problems).toEqual([]);
    expect(JSON.stringify(found)).not.toContain(SECRET);
    expect(await servers()).toEqual([
      "a claude stdio .mcp.json true",
      "b claude http .mcp.json false",
      "c claude http .mcp.json ",
      "d claude unknown .mcp.json ",
      "cursors cursor stdio .cursor/mcp.json true",
      "o opencode stdio opencode.json true",
      "off opencode http opencode.json false",
      "v vscode stdio .vscode/mcp.json true",
      "plain codex stdio ~/.codex/config.toml true",
      "with space codex http ~/.codex/config.toml false",
      "inline codex stdio ~/.codex/config.toml true",
      "dotted codex http ~/.codex/config.toml true",
      "g gemini http ~/.gemini/settings.json true",
      "everywhere claude sse ~/.claude.json true",
      "unwanted claude stdio ~/.claude.json false",
      "here claude stdio ~/.claude.json (this project) true",
    ]);
  });

  test("D11 H3 a broken file is named, without a word of what is in it", async () => {
    write(join(project, ".mcp.json"), `{ "mcpServers": { "a": { "env": { "T": ${SECRET} } } } }`);
    write(join(project, ".cursor/mcp.json"), '["a"]');
    write(join(home, ".codex/config.toml"), `model = "m"\n[mcp_servers.a ${SECRET}\n`);
    write(join(home, ".claude.json"), "{");
    mkdirSync(join(project, "opencode.json"));
    spawnSync("mkfifo", [join(project, "opencode.jsonc")]);
    write(join(project, ".gemini/settings.json"), { mcpServers: { fine: stdio } });
    const { problems, mcpServers } = await discover();
    expect(mcpServers.map(({ name }) => name)).toEqual(["fine"]);
    // a parser's complaint would quote a part of it
    expect(JSON.stringify(problems)).not.toContain(SECRET.slice(0, 4));
    expect(Object.fromEntries(problems.map(({ where, problem }) => [where, problem]))).toEqual({
      ".mcp.json": expect.stringMatching(/^is not valid JSON/),
      ".cursor/mcp.json": "does not contain a JSON object",
      "opencode.json": "cannot be read (not a file)",
      "opencode.jsonc": "cannot be read (not a file)",
      "~/.codex/config.toml": "is not valid TOML at line 2",
      "~/.claude.json": expect.stringMatching(/^is not valid JSON/),
    });
  });

  test("H4 D11 a link in the repository is no way to a file outside of it; a link at home is the person's own", async () => {
    write(join(base, "elsewhere.json"), { mcpServers: { outside: stdio } });
    mkdirSync(join(home, ".cursor"));
    symlinkSync(join(base, "elsewhere.json"), join(project, ".mcp.json"));
    symlinkSync(join(base, "elsewhere.json"), join(home, ".cursor/mcp.json"));
    const { problems, mcpServers } = await discover();
    expect(mcpServers.map(({ where }) => where)).toEqual(["~/.cursor/mcp.json"]);
    expect(problems).toEqual([
      { where: ".mcp.json", problem: "points outside the project, so it was not read" },
    ]);
  });

  test("D11 another folder for the settings of Claude Code is looked in", async () => {
    write(join(base, "cfg/.claude.json"), { mcpServers: { own: stdio } });
    write(join(base, "cfg/settings.json"), { enableAllProjectMcpServers: true });
    write(join(project, ".mcp.json"), { mcpServers: { a: stdio } });
    const env = { PATH: bin, HOME: home, CLAUDE_CONFIG_DIR: join(base, "cfg") };
    const { mcpServers } = await discoverCapabilities({ project, env, now: NOW, known: null });
    expect(mcpServers.map(({ name, where, enabled }) => [name, where, enabled])).toEqual([
      ["a", ".mcp.json", true],
      ["own", "$CLAUDE_CONFIG_DIR/.claude.json", true],
    ]);
  });

  test.each([undefined, "", "relative"])(
    "D11 without a home (%j) the project is still looked at",
    async (HOME) => {
      write(join(project, ".mcp.json"), { mcpServers: { a: stdio } });
      const env = { PATH: bin, ...(HOME === undefined ? {} : { HOME }) };
      const { mcpServers, problems } = await discoverCapabilities({ project, env, now: NOW, known: null });
      expect({ names: mcpServers.map(({ name }) => name), problems }).toEqual({ names: ["a"], problems: [] });
    },
  );
});

describe("D11 loop capabilities", () => {
  const said: string[] = [];
  const answers: string[] = [];
  const io: Io = {
    out: (text) => answers.push(text),
    say: (text) => said.push(text),
    json: (value) => answers.push(JSON.stringify(value)),
    divert: () => () => {},
    interactive: false,
    colour: false,
  };
  const file = () => join(project, ".loop/capabilities.json");

  beforeEach(() => {
    said.length = 0;
    answers.length = 0;
    vi.stubEnv("PATH", bin);
    vi.stubEnv("HOME", home);
    vi.stubEnv("CLAUDE_CONFIG_DIR", undefined);
    program(bin, "claude", `echo x >> ${quoted(join(base, "asked"))}`, "echo 2.1.325");
    write(join(project, ".mcp.json"), { mcpServers: { a: stdio } });
  });

  test("D11 writes what it found, for its owner's eyes, and prints the same as JSON", async () => {
    expect(await capabilitiesCommand({ project, json: true }, io)).toBe(0);
    const { sum: _, ...written } = JSON.parse(readFileSync(file(), "utf8"));
    expect(JSON.parse(answers.join())).toEqual(written);
    expect(JSON.parse(answers.join())).toMatchObject({
      version: 1,
      agents: [{ name: "claude", version: "2.1.325" }],
    });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(said).toEqual(["Checking the version of 1 program …"]);
  });

  test("D11 shows a table", async () => {
    await capabilitiesCommand({ project }, io);
    expect(answers.join().replaceAll(bin, "BIN")).toBe(
      [
        "Agents",
        "  claude  2.1.325  BIN/claude",
        "",
        "Tools",
        "  none on the PATH",
        "",
        "MCP servers",
        "  a  claude  stdio  not approved yet  .mcp.json",
      ].join("\n"),
    );
  });

  test("D11 asks an unchanged program again only with --refresh", async () => {
    const asked = () => readFileSync(join(base, "asked"), "utf8").length / 2;
    for (const flags of [{}, {}, { refresh: true }]) await capabilitiesCommand({ project, ...flags }, io);
    expect(asked()).toBe(2);
  });

  test("H2 D11 believes no file that the repository brought along, and writes none beside foreign tasks", async () => {
    const path = join(bin, "claude");
    const { mtimeMs } = statSync(path);
    const lie = { name: "claude", path, version: "6.6.6", changedAt: Math.floor(mtimeMs) };
    write(file(), {
      version: 1,
      at: new Date(NOW).toISOString(),
      agents: [lie],
      tools: [],
      mcpServers: [],
      problems: [],
    });
    write(join(project, ".loop/tasks.json"), "{}");
    const before = readFileSync(file(), "utf8");
    await capabilitiesCommand({ project, json: true }, io);
    expect(answers.join()).toContain("2.1.325");
    expect(readFileSync(file(), "utf8")).toBe(before);
    expect(readdirSync(join(project, ".loop")).sort()).toEqual(["capabilities.json", "tasks.json"]);
  });

  test("H3 D11 a name that a repository made up does not move the cursor", () => {
    const server = {
      name: "a\u001b[2J\nb",
      client: "claude",
      transport: "stdio" as const,
      where: ".mcp.json",
    };
    const text = renderCapabilities(
      {
        version: 1,
        at: "",
        agents: [],
        tools: [],
        mcpServers: [{ ...server, enabled: true }],
        problems: [{ where: "x\u001b[1m", problem: "is odd" }],
      },
      Number.POSITIVE_INFINITY,
      io,
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
    expect(text).not.toMatch(/\u001b/);
    expect(text).toContain("on  .mcp.json");
  });
});
