/**
 * Expands a prompt that is a slash command, like pi does for typed text (A1). pi does not expand messages from an
 * extension, so skills and prompt templates are inserted here. Only the person can run a command of another extension,
 * so the agent gets its text with an explanation.
 */
import type { PiCommandInfo } from "../api.ts";

/** `read` returns null for a missing file. */
export function expandSlash(
  text: string,
  commands: readonly PiCommandInfo[],
  read: (path: string) => string | null,
): string {
  const [, name = "", rest = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (name === "") return text;
  const command = commands.find((each) => each.name === name);
  const path = command?.sourceInfo?.path ?? "";
  const body = withoutFrontmatter((path === "" ? null : read(path)) ?? "");
  if (command === undefined || body === "") return asWords(text);
  if (command.source === "prompt") return fillTemplate(body, rest);
  return command.source === "skill" ? asSkill(name, path, body, rest) : asWords(text);
}

function asSkill(name: string, path: string, body: string, rest: string): string {
  const folder = path.replace(/[\\/][^\\/]*$/, "");
  const block = `<skill name="${name.replace(/^skill:/, "")}" location="${path}">\nReferences are relative to ${folder}.\n\n${body}\n</skill>`;
  return rest === "" ? block : `${block}\n\n${rest}`;
}

/** Replaces `$1`, `$@`, `$ARGUMENTS`, `${@:2}` and `${@:2:1}` in one pass. Inserted text is not expanded again. */
function fillTemplate(body: string, rest: string): string {
  const words = [...rest.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
  return body.replaceAll(
    /\$(?:(\d+)|@|ARGUMENTS|\{@:(\d+)(?::(\d+))?\})/g,
    (_, number?: string, from?: string, count?: string) => {
      if (number !== undefined) return words[Number(number) - 1] ?? "";
      const start = Math.max(0, Number(from ?? 1) - 1);
      const end = count === undefined ? words.length : start + Number(count);
      return words.slice(start, end).join(" ");
    },
  );
}

function withoutFrontmatter(text: string): string {
  return text.replace(/^---\r?\n[\s\S]*?\r?\n---(?:\r?\n|$)/, "").trim();
}

function asWords(text: string): string {
  return `A scheduled task is due. Its prompt is a slash command. Do what the command stands for, as if the person had just typed it:\n\n${text}`;
}
