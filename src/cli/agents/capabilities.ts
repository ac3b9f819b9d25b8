/**
 * `loop capabilities`: lists the agents, tools and MCP servers for loops in this project (D11) and stores the list in
 * `.loop/capabilities.json`. Without `--refresh` it starts only programs that have changed since.
 *
 * JSON, like the file: `{ version: 1, at, agents: [{ name, path, version, changedAt }], tools: [the same],
 * mcpServers: [{ name, client, transport, where, enabled }], problems: [{ where, problem }] }`.
 */
import { join } from "node:path";
import { discoverCapabilities } from "../../agents/capabilities/capabilities.ts";
import {
  type Capabilities,
  type McpServer,
  type Program,
  parseCapabilities,
} from "../../agents/capabilities/capabilities-file.ts";
import { cannotWrite, ensureLoopDir } from "../../store/folder/loop-dir.ts";
import { claimOrigin, openSigner, originOf } from "../../store/signed/origin.ts";
import { isSigned, renderSigned } from "../../store/signed/signed-json.ts";
import { orNull, readSmall, writeAtomic } from "../../system/files.ts";
import { answer, type Io, paint, terminalWidth } from "../io.ts";
import { openProjectToRead, type ProjectFlags } from "../project.ts";
import { oneLine, renderTable } from "../render/table.ts";

const NAME = "capabilities.json";

type CapabilitiesFlags = ProjectFlags & { readonly refresh?: boolean };

export async function capabilitiesCommand(flags: CapabilitiesFlags, io: Io): Promise<number> {
  const { root, dir } = openProjectToRead(flags, io);
  const found = await discoverCapabilities({
    project: root,
    env: process.env,
    now: Date.now(),
    known: flags.refresh ? null : readKnown(dir),
    onAsking: (count) =>
      io.say(`Checking the version of ${count === 1 ? "1 program" : `${count} programs`} …`),
  });
  // a .loop that came with the repository is only read
  if (originOf(dir) !== "foreign") save(root, found);
  return answer(flags, io, found, renderCapabilities(found, terminalWidth(), io));
}

/** Ignores a file that came with the repository. */
function readKnown(dir: string): Capabilities | null {
  const text = readSmall(join(dir, NAME));
  const content: unknown = orNull(() => JSON.parse(text ?? "null"));
  const isOurs = typeof content === "object" && content !== null && isSigned(openSigner(dir), NAME, content);
  return text !== null && isOurs ? parseCapabilities(text) : null;
}

function save(root: string, found: Capabilities): void {
  const dir = ensureLoopDir(root);
  const path = join(dir, NAME);
  try {
    writeAtomic(path, renderSigned(claimOrigin(dir), NAME, found));
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

export function renderCapabilities(found: Capabilities, width: number, io: Pick<Io, "colour">): string {
  const { agents, tools, mcpServers, problems } = found;
  const part = (title: string, rows: readonly (readonly string[])[], none: string): string => {
    const body = rows.length === 0 ? none : renderTable(rows, width - 2, io);
    return `${paint(io, "bold", title)}\n${body.replaceAll(/^/gm, "  ")}`;
  };
  const parts = [
    part("Agents", agents.map(programRow), "none on the PATH"),
    part("Tools", tools.map(programRow), "none on the PATH"),
    part("MCP servers", mcpServers.map(serverRow), "none configured"),
  ];
  const lines = problems.map(({ where, problem }) => [oneLine(`${where} ${problem}`)]);
  return [...parts, ...(lines.length === 0 ? [] : [part("Problems", lines, "")])].join("\n\n");
}

function programRow({ name, version, path }: Program): string[] {
  return [name, version ?? "?", path];
}

function serverRow({ name, client, transport, where, enabled }: McpServer): string[] {
  const state = enabled === null ? "not approved yet" : enabled ? "on" : "off";
  return [name, client, transport, state, where];
}
