/** `mask: false` in a project's settings (J7). */
import { join } from "node:path";
import { parseConfigText } from "../../schema/config.ts";
import { createTrustStore } from "../folder/trust.ts";
import { readText } from "./read-text.ts";

/** Counts only after a person trusted exactly this content (H2): the file may have come with a repository. */
export function isMaskOff(project: string, env: NodeJS.ProcessEnv): boolean {
  const path = join(project, ".loop", "config.json");
  const content = readText(path);
  if (content === null || !content.includes('"mask"')) return false;
  const parsed = parseConfigText(content);
  return parsed.kind === "ok" && !parsed.config.mask && createTrustStore(env).isTrusted({ path, content });
}
