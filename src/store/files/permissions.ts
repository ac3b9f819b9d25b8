/** The `permissions` of a project's settings, as far as they count here (H2). */
import { join } from "node:path";
import { type PermissionRules, withoutAllow } from "../../core/permissions.ts";
import { parseConfigText } from "../../schema/config.ts";
import { createTrustStore } from "../folder/trust.ts";
import { readText } from "./read-text.ts";

/**
 * A file that came with a repository may only make it stricter: until a person trusted this very content, what it
 * allows is asked. What is wrong in the file is said by who reads all of it.
 */
export function permissionsOf(project: string, env: NodeJS.ProcessEnv): PermissionRules {
  const path = join(project, ".loop", "config.json");
  const content = readText(path);
  if (content === null) return {};
  const parsed = parseConfigText(content);
  const rules = parsed.kind === "ok" ? (parsed.config.permissions ?? {}) : {};
  return createTrustStore(env).isTrusted({ path, content }) ? rules : withoutAllow(rules);
}
