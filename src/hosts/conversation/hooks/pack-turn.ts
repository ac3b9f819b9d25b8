/** A turn's text in the form in which hooks can hand it to the conversation. */
import { dirname, join, relative } from "node:path";
import type { Turn } from "../../../ports/agent.ts";
import { ensureSessions } from "../../../store/folder/session-records.ts";
import { writeAtomic } from "../../../system/files.ts";

/** Claude Code replaces what is longer than about 10,000 characters by a preview; no client takes less. */
const MAX_CHARACTERS = 9_000;

export function packTurn(dir: string, { id, text }: Turn): string {
  const whole = text.startsWith("/") ? asCommand(text) : text;
  if (whole.length <= MAX_CHARACTERS) return whole;
  const path = join(ensureSessions(dir), `turn-${id.replaceAll(/[^A-Za-z0-9.-]/g, "_")}.md`);
  writeAtomic(path, whole, false);
  return `What to do now is in the file ${relative(dirname(dir), path)}. Read all of it, then do it.`;
}

/** Hosts know slash commands only where a person types them. */
function asCommand(text: string): string {
  return `A scheduled task is due. Its prompt is a slash command; carry it out as if it had been typed just now (with the Skill tool, where it is a skill):\n\n${text}`;
}
