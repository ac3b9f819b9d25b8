/**
 * Real clients, where `scripts/install-client.mjs <name>` has put them. LOOP_TEST_AGENTS=all makes the absence of
 * any of them a failure; LOOP_TEST_PI=required that of pi alone.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folders of test/clients. */
export type ClientName =
  | "claude"
  | "claude-acp"
  | "codex"
  | "copilot"
  | "gemini"
  | "mcp-conformance"
  | "node"
  | "opencode"
  | "pi"
  | "pi-next"
  | "qwen";

/** In the cache, named after the lock file as install-client.mjs does it. */
export function clientFolder(name: ClientName): string {
  const lock = readFileSync(
    fileURLToPath(new URL(`../../clients/${name}/package-lock.json`, import.meta.url)),
  );
  const hash = createHash("sha256").update(lock).digest("hex").slice(0, 16);
  const { LOOPWRIGHT_CLIENTS, XDG_CACHE_HOME } = process.env;
  const cache = LOOPWRIGHT_CLIENTS || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "loopwright-clients");
  return join(cache, `${name}-${hash}`);
}

/** A program of a client's; null: the client is not installed, or not asked for. */
export function clientProgram(name: ClientName, program: string): string | null {
  if (!isAskedFor(name)) return null;
  const path = join(clientFolder(name), "node_modules", ".bin", program);
  return existsSync(path) ? path : null;
}

/** Claude Code and pi where they are there; the others take long, and only LOOP_TEST_AGENTS (all, or names) asks for them. */
function isAskedFor(name: ClientName): boolean {
  const { LOOP_TEST_AGENTS = "" } = process.env;
  if (name === "claude" || name === "pi" || LOOP_TEST_AGENTS === "all") return true;
  const named = LOOP_TEST_AGENTS.split(",").filter((each) => each !== "");
  return named.includes(name) || (name === "node" && named.length > 0);
}

export function isRequired(name: ClientName): boolean {
  const { LOOP_TEST_AGENTS, LOOP_TEST_CLAUDE, LOOP_TEST_PI } = process.env;
  if (name === "claude") return LOOP_TEST_CLAUDE === "required";
  return LOOP_TEST_AGENTS === "all" || (name === "pi" && LOOP_TEST_PI === "required");
}

/** How a person gets what is missing. */
export function installCommand(...names: readonly ClientName[]): string {
  return `node scripts/install-client.mjs ${names.join(" ")}`;
}
