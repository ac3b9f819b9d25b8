/** Detects a project's stack from its files. Never throws: an unreadable file counts as missing. */
import { join } from "node:path";
import { readProjectFacts } from "../../checks/project-facts.ts";
import { detectStack, MANIFESTS, type Stack } from "../../core/backlog/prd/detect.ts";
import { readAnyones } from "../../system/files.ts";

const MAX_MANIFEST = 1024 * 1024;

export function readStack(root: string): Stack {
  const facts = readProjectFacts(root);
  const texts = MANIFESTS.filter((name) => facts.files.includes(name)).map((name) => [
    name,
    readAnyones(join(root, name), MAX_MANIFEST) ?? "",
  ]);
  return detectStack({ ...facts, manifests: Object.fromEntries(texts) as Record<string, string> });
}
