/**
 * The real Claude Code, where `npm run test:claude` has put it. It is asked for no key and reaches no network: its
 * model is scripted (scripted-model.ts), its home is a test's own.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const CLAUDE = clientPath();
export const isClaudeMissing = !existsSync(CLAUDE);
export const isClaudeRequired = process.env.LOOP_TEST_CLAUDE === "required";
/** For the title of what is left out without it. */
export const whyMissing = isClaudeMissing ? ` (no client at ${CLAUDE}: npm run test:claude)` : "";

/** LOOP_TEST_CLAUDE=required makes its absence a failure. */
export function expectClaude(): void {
  if (isClaudeMissing)
    throw new Error(`Claude Code is required (LOOP_TEST_CLAUDE) and not at ${CLAUDE}: npm run test:claude`);
}

/** What keeps a run to itself, beside a HOME of its own. */
export function claudeEnv(modelUrl: string, temporary: string): Record<string, string> {
  return {
    TMPDIR: temporary,
    CLAUDE_CODE_TMPDIR: temporary,
    ANTHROPIC_API_KEY: "sk-ant-dummy-test-key",
    ANTHROPIC_BASE_URL: modelUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
  };
}

function clientPath(): string {
  const lock = readFileSync(fileURLToPath(new URL("../clients/claude/package-lock.json", import.meta.url)));
  const hash = createHash("sha256").update(lock).digest("hex").slice(0, 16);
  const { LOOPWRIGHT_CLIENTS, XDG_CACHE_HOME } = process.env;
  const cache = LOOPWRIGHT_CLIENTS || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "loopwright-clients");
  return join(cache, `claude-${hash}`, "node_modules/.bin/claude");
}
