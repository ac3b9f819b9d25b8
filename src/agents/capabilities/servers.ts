/** MCP servers of this project. Only names, kinds and places leave this module: the rest may contain tokens. */
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isInside } from "../../system/inside.ts";
import type { McpServer, Problem } from "./capabilities-file.ts";
import {
  isSettingFields,
  parseSettings,
  parseToml,
  readSettings,
  type SettingFields,
} from "./client-settings.ts";

interface Source {
  readonly client: string;
  readonly where: string;
  readonly path: string;
  /** A file of the repository must not lead out of it. */
  readonly isProjects: boolean;
  readonly key: "mcpServers" | "mcp" | "servers" | "toml";
}

export function readServers(
  project: string,
  env: NodeJS.ProcessEnv,
): { readonly servers: McpServer[]; readonly problems: Problem[] } {
  const servers: McpServer[] = [];
  const problems: Problem[] = [];
  const claude = readClaude(project, env, problems);
  for (const source of sourcesOf(project, env)) {
    const fields = read(source, project, problems);
    if (fields === null) continue;
    for (const [name, server] of entriesOf(fields[source.key === "toml" ? "mcp_servers" : source.key])) {
      const enabled = source.where === ".mcp.json" ? claude.answerFor(name) : isOn(server);
      const { client, where } = source;
      servers.push({ name, client, transport: transportOf(server), where, enabled });
    }
  }
  return { servers: [...servers, ...claude.servers], problems };
}

/** `both`: the same path in the project and in the home folder. */
const SOURCES: readonly [client: string, where: string, key: Source["key"], "project" | "home" | "both"][] = [
  ["claude", ".mcp.json", "mcpServers", "project"],
  ["claude", ".claude/settings.json", "mcpServers", "project"],
  ["claude", ".claude/settings.local.json", "mcpServers", "project"],
  ["codex", ".codex/config.toml", "toml", "both"],
  ["cursor", ".cursor/mcp.json", "mcpServers", "both"],
  ["gemini", ".gemini/settings.json", "mcpServers", "both"],
  ["qwen", ".qwen/settings.json", "mcpServers", "both"],
  ["opencode", "opencode.json", "mcp", "project"],
  ["opencode", "opencode.jsonc", "mcp", "project"],
  ["vscode", ".vscode/mcp.json", "servers", "project"],
  ["copilot", ".copilot/mcp-config.json", "mcpServers", "home"],
  ["opencode", ".config/opencode/opencode.json", "mcp", "home"],
  ["opencode", ".config/opencode/opencode.jsonc", "mcp", "home"],
];

function sourcesOf(project: string, env: NodeJS.ProcessEnv): Source[] {
  const home = homeOf(env);
  const inProject = SOURCES.filter(([, , , place]) => place !== "home");
  const atHome = home === null ? [] : SOURCES.filter(([, , , place]) => place !== "project");
  return [
    ...inProject.map(([client, where, key]) => {
      return { client, where, path: join(project, where), isProjects: true, key };
    }),
    ...atHome.map(([client, where, key]) => {
      return { client, where: `~/${where}`, path: join(home ?? "", where), isProjects: false, key };
    }),
  ];
}

function homeOf({ HOME }: NodeJS.ProcessEnv): string | null {
  return HOME !== undefined && isAbsolute(HOME) ? HOME : null;
}

function read(
  source: Omit<Source, "client" | "key"> & { key?: Source["key"] },
  project: string,
  problems: Problem[],
): SettingFields | null {
  const { where, path } = source;
  if (!existsSync(path)) return null;
  if (source.isProjects && !isInside(project, path)) {
    problems.push({ where, problem: "points outside the project, so it was not read" });
    return null;
  }
  const file = readSettings(path);
  if (file.kind === "unreadable") {
    problems.push({ where, problem: `cannot be read (${file.reason})` });
    return null;
  }
  const parsed = source.key === "toml" ? parseToml(file.text) : parseSettings(file.text);
  if (typeof parsed === "string") {
    problems.push({ where, problem: parsed });
    return null;
  }
  return parsed;
}

interface ClaudeServers {
  readonly servers: readonly McpServer[];
  /** May a server of `.mcp.json` be used? null: the person was not asked yet. */
  answerFor(name: string): boolean | null;
}

/** `~/.claude.json` has servers for all projects and for this one. Answers about `.mcp.json` are in several files. */
function readClaude(project: string, env: NodeJS.ProcessEnv, problems: Problem[]): ClaudeServers {
  const home = homeOf(env);
  const own = env.CLAUDE_CONFIG_DIR;
  const folder = own !== undefined && isAbsolute(own) ? own : home;
  const settings =
    folder === own ? join(own ?? "", "settings.json") : join(home ?? "", ".claude/settings.json");
  const shown = folder === own ? "$CLAUDE_CONFIG_DIR" : "~";
  const mine = (where: string, path: string): SettingFields =>
    (folder === null ? null : read({ where, path, isProjects: false }, project, problems)) ?? {};
  const all = mine(`${shown}/.claude.json`, join(folder ?? "", ".claude.json"));
  const projects = fieldsOf(all.projects);
  const here = fieldsOf(projects[project] ?? projects[realpathSync(project)]);
  const projectFile = (where: string): SettingFields =>
    // its problems are reported where its servers are read
    read({ where, path: join(project, where), isProjects: true }, project, []) ?? {};
  const answers = [
    here,
    mine(shown === "~" ? "~/.claude/settings.json" : `${shown}/settings.json`, settings),
    projectFile(".claude/settings.json"),
    projectFile(".claude/settings.local.json"),
  ];
  const off = new Set(namesIn(here.disabledMcpServers));
  const serversIn = (where: string, fields: SettingFields): McpServer[] =>
    entriesOf(fields.mcpServers).map(([name, server]) => ({
      name,
      client: "claude",
      transport: transportOf(server),
      where,
      enabled: isOn(server) && !off.has(name),
    }));
  return {
    servers: [
      ...serversIn(`${shown}/.claude.json`, all),
      ...serversIn(`${shown}/.claude.json (this project)`, here),
    ],
    answerFor: (name) => {
      if (answers.some((fields) => namesIn(fields.disabledMcpjsonServers).includes(name))) return false;
      const isYes = answers.some(
        (fields) =>
          fields.enableAllProjectMcpServers === true || namesIn(fields.enabledMcpjsonServers).includes(name),
      );
      return isYes ? true : null;
    },
  };
}

function isOn({ enabled, disabled }: SettingFields): boolean {
  return enabled !== false && disabled !== true;
}

const TRANSPORTS: Readonly<Record<string, McpServer["transport"]>> = {
  stdio: "stdio",
  local: "stdio",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  remote: "http",
  sse: "sse",
  ws: "ws",
};

function transportOf(server: SettingFields): McpServer["transport"] {
  const type = typeof server.type === "string" ? server.type : server.transport;
  const known = typeof type === "string" && Object.hasOwn(TRANSPORTS, type) ? TRANSPORTS[type] : undefined;
  return (
    known ?? ("command" in server ? "stdio" : "url" in server || "httpUrl" in server ? "http" : "unknown")
  );
}

function entriesOf(value: unknown): [string, SettingFields][] {
  return Object.entries(fieldsOf(value)).map(([name, server]) => [name, fieldsOf(server)]);
}

function fieldsOf(value: unknown): SettingFields {
  return isSettingFields(value) ? value : {};
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
