/** The `permissions` of a project's settings (H2). */
import { join } from "node:path";
import { type PermissionRules, withoutAllow } from "../../core/permissions.ts";
import { parseConfigText } from "../../schema/config.ts";
import { createTrustStore } from "../folder/trust.ts";
import { readText } from "./read-text.ts";

/**
 * Until a person trusts exactly this content, the file may only add restrictions, and its `allow` is ignored. This
 * function ignores faults in the file: `readConfig` reports them.
 */
export function permissionsOf(project: string, env: NodeJS.ProcessEnv): PermissionRules {
  const path = join(project, ".loop", "config.json");
  const content = readText(path);
  if (content === null) return {};
  const parsed = parseConfigText(content);
  const rules = parsed.kind === "ok" ? (parsed.config.permissions ?? {}) : {};
  return createTrustStore(env).isTrusted({ path, content }) ? rules : withoutAllow(rules);
}
