/** MCP servers of this project. For reports only names, kinds and places: the rest may contain tokens. */
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

/** What the servers in the project's own files start or reach, for a person who decides about them. */
export function projectServers(project: string): readonly ProjectServer[] {
  return sourcesOf(project, {}).flatMap((source) => {
    const fields = read(source, project, []) ?? {};
    const { client, where, key } = source;
    return entriesOf(fields[key === "toml" ? "mcp_servers" : key]).map(([name, server]) => ({
      ...{ client, where, name, command: wordsOf(server).join(" ") },
    }));
  });
}

export interface ProjectServer {
  readonly client: string;
  readonly where: string;
  readonly name: string;
  /** May contain tokens. */
  readonly command: string;
}

function wordsOf({ command, args, url, httpUrl }: SettingFields): readonly string[] {
  const words = [command, args, url, httpUrl].flat();
  return words.filter((word) => typeof word === "string");
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
  const home = absolute(env.HOME);
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

function absolute(path: string | undefined): string | null {
  return path !== undefined && isAbsolute(path) ? path : null;
}

type Place = Omit<Source, "client" | "key"> & Partial<Pick<Source, "key">>;

function read(place: Place, project: string, problems: Problem[]): SettingFields | null {
  if (!existsSync(place.path)) return null;
  const fields = fieldsIn(place, project);
  if (typeof fields !== "string") return fields;
  problems.push({ where: place.where, problem: fields });
  return null;
}

/** A string says what is wrong. */
function fieldsIn({ path, isProjects, key }: Place, project: string): SettingFields | string {
  if (isProjects && !isInside(project, path)) return "points outside the project, so it was not read";
  const file = readSettings(path);
  if (file.kind === "unreadable") return `cannot be read (${file.reason})`;
  return key === "toml" ? parseToml(file.text) : parseSettings(file.text);
}

/** `~/.claude.json` has servers for all projects and for this one. Answers about `.mcp.json` are in several files. */
function readClaude(project: string, env: NodeJS.ProcessEnv, problems: Problem[]) {
  const own = absolute(env.CLAUDE_CONFIG_DIR);
  const folder = own ?? absolute(env.HOME);
  const shown = own === null ? "~" : "$CLAUDE_CONFIG_DIR";
  const mine = (name: string): SettingFields => {
    if (folder === null) return {};
    const place = { where: `${shown}/${name}`, path: join(folder, name), isProjects: false };
    return read(place, project, problems) ?? {};
  };
  const all = mine(".claude.json");
  const projects = fieldsOf(all.projects);
  const here = fieldsOf(projects[project] ?? projects[realpathSync(project)]);
  const projectFile = (where: string): SettingFields =>
    // its problems are reported where its servers are read
    read({ where, path: join(project, where), isProjects: true }, project, []) ?? {};
  const answers = [
    here,
    mine(own === null ? ".claude/settings.json" : "settings.json"),
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
    /** May a server of `.mcp.json` be used? null: the person was not asked yet. */
    answerFor: (name: string): boolean | null => {
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
