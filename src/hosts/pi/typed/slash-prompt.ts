/**
 * A prompt that is a slash command, as pi itself would make it when a person types it (A1). What an extension sends
 * is not looked at for commands, so that skills and prompt templates are put in here. A command of another extension
 * can be carried out by nobody but the person: the agent is told what was meant.
 */
import type { PiCommandInfo } from "../api.ts";

/** `read`: null for what is not there. */
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

/** `$1`, `$@`, `$ARGUMENTS`, `${@:2}` and `${@:2:1}`, in one go: what was put in is not looked at again. */
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
  return `A scheduled task is due. Its prompt is a slash command; do what it stands for, as if it had been typed just now:\n\n${text}`;
}
