/**
 * The command lines of hooks. A client runs them at every turn and every prompt, in all projects. Without a `.loop`
 * folder they cost only a shell that looks for one.
 */
import { join } from "node:path";
import type { ClientEvent, ClientName } from "../clients/client.ts";

/** The command line program, in the same folder. */
export const HOOK_COMMAND = join("loop", "loop.cjs");

/** The program that a person's own hooks start, in the installed folder. */
export const HOOK_PROGRAM = "loop-hook";

/** The command for one person: the program on this machine. */
export function ownCommand(folder: string, client: ClientName, event: ClientEvent): string {
  if (process.platform === "win32") return `node "${join(folder, HOOK_COMMAND)}" hook ${client} ${event}`;
  return `'${join(folder, HOOK_PROGRAM).replaceAll("'", "'\\''")}' ${client} ${event}`;
}

/** The command for a whole team: the `loop` on the PATH. It does nothing for people without `loop`. */
export function sharedCommand(client: ClientName, event: ClientEvent): string {
  const run = plainCommand(client, event);
  if (process.platform === "win32") return run;
  const found = "command -v loop >/dev/null 2>&1 || exit 0";
  const rest = event === "prompt" ? promptLines(run, client) : [noProject(client), `exec ${run}`];
  return `sh -c '${[found, ...rest].join("; ")}'`;
}

/** For systems without a POSIX shell. */
export function plainCommand(client: ClientName, event: ClientEvent): string {
  return `loop hook ${client} ${event}`;
}

/** Did any version of `loop install` write this command? */
export function isOwnCommand(command: unknown, client: ClientName): boolean {
  if (typeof command !== "string") return false;
  const [, name] = /(?:\bloop-hook['"]?|\bloop(?:\.cjs)?['"]? hook) (\w+) \w+\b/.exec(command) ?? [];
  return name === client;
}

/** The text of the hook program. `loop.cjs` is in the folder `loop` next to it. */
export function renderHookProgram(): string {
  const run = 'node "$here/loop/loop.cjs" hook "$1" "$2"';
  return `#!/bin/sh
# Installed by \`loop install\`: asks Loopwright when an agent's turn ends. Without a .loop folder it exits at once.
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

/** Loop commands work in every folder. The shell checks the prompt, so other prompts start no program. */
function promptLines(run: string, client: string): readonly string[] {
  // the last one is Copilot's form of the command in a terminal
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
 * Looks for a project like the program itself: in this folder, or in a git work tree also in the folders above it up to
 * its root. Cursor runs a person's own hooks in its own folder and gives the project in a variable.
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
