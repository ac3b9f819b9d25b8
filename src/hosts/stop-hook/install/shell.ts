/**
 * The command lines of hooks. They run at every turn and every prompt of a client, in all projects: where there is no
 * `.loop`, all that they cost is a shell that looks for one.
 */
import { join } from "node:path";
import type { ClientEvent, ClientName } from "../clients/client.ts";

/** The command line program, in the same folder. */
export const HOOK_COMMAND = join("loop", "loop.cjs");

/** The name of the program that a person's own hooks start, in the folder that `install` made. */
export const HOOK_PROGRAM = "loop-hook";

/** For one person: the program of this machine. */
export function ownCommand(folder: string, client: ClientName, event: ClientEvent): string {
  if (process.platform === "win32") return `node "${join(folder, HOOK_COMMAND)}" hook ${client} ${event}`;
  return `'${join(folder, HOOK_PROGRAM).replaceAll("'", "'\\''")}' ${client} ${event}`;
}

/** For everybody who works on a project: whatever `loop` is on the PATH; who has none is not bothered. */
export function sharedCommand(client: ClientName, event: ClientEvent): string {
  const run = plainCommand(client, event);
  if (process.platform === "win32") return run;
  const found = "command -v loop >/dev/null 2>&1 || exit 0";
  const rest = event === "prompt" ? promptLines(run, client) : [noProject(client), `exec ${run}`];
  return `sh -c '${[found, ...rest].join("; ")}'`;
}

/** Where there is no shell that knows more. */
export function plainCommand(client: ClientName, event: ClientEvent): string {
  return `loop hook ${client} ${event}`;
}

/** Did `install` write this, in whatever version? */
export function isOwnCommand(command: unknown, client: ClientName): boolean {
  if (typeof command !== "string") return false;
  const [, name] = /(?:\bloop-hook['"]?|\bloop(?:\.cjs)?['"]? hook) (\w+) \w+\b/.exec(command) ?? [];
  return name === client;
}

/** The program itself; `loop.cjs` lies in the folder `loop` beside it. */
export function renderHookProgram(): string {
  const run = 'node "$here/loop/loop.cjs" hook "$1" "$2"';
  return `#!/bin/sh
# Put here by \`loop install\`: asks Loopwright when a turn of an agent ends. Without a .loop it ends at once.
here=\${0%/*}
command -v node >/dev/null 2>&1 || exit 0
if [ "$2" = prompt ]; then
  ${promptLines(run, "$1").join("\n  ")}
  exit 0
fi
${noProject("$1")}
exec ${run}
`;
}

/** What is typed at us counts in every folder; it is read here, so that all else starts nothing. */
function promptLines(run: string, client: string): readonly string[] {
  // the last one is what Copilot makes of its command at a terminal
  const starts = [
    "[/$]loop*",
    "/prompts:loop*",
    'The\\ user\\ explicitly\\ invoked\\ the\\ \\\\\\"/loopwright*',
  ];
  const word = starts
    .flatMap((start) => [`*\\"prompt\\":\\"${start}`, `*\\"prompt\\":\\ \\"${start}`])
    .join("|");
  return ["i=$(cat)", `case $i in ${word}) ;; *) ${noProject(client)} ;; esac`, `printf "%s" "$i" | ${run}`];
}

/**
 * As the program itself looks for a project: the folder, or inside a git work tree those above it up to the root of
 * the tree. Cursor starts a person's own hooks in its own folder, and tells the project's.
 */
function noProject(client: string): string {
  const place = `\${CURSOR_PROJECT_DIR:-$PWD}`;
  const start =
    client === "cursor"
      ? `d=${place}`
      : client.startsWith("$")
        ? `d=$PWD; [ "${client}" = cursor ] && d=${place}`
        : "d=$PWD";
  const climb = [
    'while [ ! -e "$d/.git" ]',
    `do u=\${d%/*}`,
    '[ "$u" = "$d" ] && exit 0',
    "d=$u",
    '[ -e "$d/.loop" ] && f=1',
    "done",
    '[ "$f" = 1 ] || exit 0',
  ];
  return `${start}; f=0; [ -e "$d/.loop" ] || { ${climb.join("; ")}; }`;
}
