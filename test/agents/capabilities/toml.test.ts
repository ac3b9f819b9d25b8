/** D11 MCP servers in Codex's configuration, in the shapes that people write. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readServers } from "../../../src/agents/capabilities/servers.ts";

/** Name, transport and whether it is on, of each server in this configuration. */
function read(toml: string) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "loop it's ")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, ".codex"));
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, ".codex/config.toml"), toml);
  const { servers, problems } = readServers(join(home, "project"), { HOME: home });
  return {
    servers: servers.map(({ name, transport, enabled }) => `${name} ${transport} ${enabled ? "on" : "off"}`),
    problems: problems.map(({ problem }) => problem),
  };
}

test.each([
  ["a table", '[mcp_servers.a]\ncommand = "x"', ["a stdio on"]],
  ["dotted keys", 'mcp_servers.a.command = "x"\nmcp_servers.a.enabled = false', ["a stdio off"]],
  ["an inline table", '[mcp_servers]\na = { command = "x", enabled = false }', ["a stdio off"]],
  [
    "an inline table in an inline table",
    'mcp_servers = { a = { url = "u" }, b = { command = "x" } }',
    ["a http on", "b stdio on"],
  ],
  ["an inline table of several lines", 'mcp_servers = {\n  a = {\n    url = "u",\n  },\n}', ["a http on"]],
  [
    "`enabled` in an inner table",
    '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.env]\nenabled = false',
    ["a stdio on"],
  ],
  [
    "`command` in a text of an inline table",
    '[mcp_servers]\na = { note = "{ command = 1", url = "u" }',
    ["a http on"],
  ],
  [
    "quoted keys",
    "[mcp_servers.\"a.b \\u0041\"]\ncommand = 'x'\n['mcp_servers'.'c]d']\nurl = 'u'",
    ["a.b A stdio on", "c]d http on"],
  ],
  [
    "letters of any script in a quoted key",
    '[mcp_servers."ключ ✅ 名前"]\nurl = "u"',
    ["ключ ✅ 名前 http on"],
  ],
  [
    "a multi-line text with a table in it",
    '[mcp_servers.a]\ncommand = """\n[mcp_servers.b]\nurl = "x" \\"""\n"""\n',
    ["a stdio on"],
  ],
  [
    "a literal text with a table in it",
    "note = '''\n[mcp_servers.b]\n\"\"\"\n'''\n[mcp_servers.a]\nurl = 'u'",
    ["a http on"],
  ],
  [
    "a list of several lines",
    '[mcp_servers.a]\nargs = [\n  "[mcp_servers.b]", # "\n  "x",\n]\ncommand = "x"',
    ["a stdio on"],
  ],
  [
    "comments",
    '# [mcp_servers.b]\n[ mcp_servers . a ] # command = "no"\nurl = "#" # enabled = false',
    ["a http on"],
  ],
  [
    "lists of tables beside it",
    '[[hooks]]\ncommand = "x"\n[[hooks.mcp_servers]]\nurl = "u"\n[mcp_servers.a]\nurl = "u"',
    ["a http on"],
  ],
  [
    "dates and numbers",
    'at = 2026-01-01T00:00:00Z\nday = 2026-01-01\nbig = 0xff_ff\n[mcp_servers.a]\nsince = 07:32:00\nurl = "u"',
    ["a http on"],
  ],
  ["a table below it first", '[mcp_servers.a.env]\nK = "v"\n[mcp_servers.a]\nurl = "u"', ["a http on"]],
  ["another table of the same name", '[profiles.mcp_servers.a]\ncommand = "x"', []],
  ["Windows line ends and a byte order mark", '\ufeff[mcp_servers.a]\r\ncommand = "x"\r\n', ["a stdio on"]],
  [
    "names of every object",
    '[mcp_servers.__proto__]\nurl = "u"\n[mcp_servers.constructor]\nurl = "u"',
    ["__proto__ http on", "constructor http on"],
  ],
  ["nothing", "", []],
])("D11 servers are found in TOML with %s", (_, toml, servers) => {
  expect(read(toml)).toEqual({ servers, problems: [] });
});

test.each([
  ["a value is missing", '[mcp_servers.a]\ncommand = "s3cret"\nurl =\n', 3],
  ["a text is not closed", 'a = 1\nb = "s3cret', 2],
  ["a key is there twice", '[mcp_servers.a]\nurl = "s3cret"\nurl = "s3cret"', 3],
  ["a table is not closed", "[mcp_servers.s3cret\n", 1],
])("D11 H3 wrong TOML is named by its line, and nothing of it is quoted: %s", (_, toml, line) => {
  expect(read(toml)).toEqual({ servers: [], problems: [`is not valid TOML at line ${line}`] });
});
