/** The parts of a shell line: commands in order, and the subshells around them. */
export interface ShellCommand {
  /** Keywords before the program, such as `if` and `!`. A command can consist of keywords only, such as `fi`. */
  readonly keywords: readonly string[];
  readonly assignments: readonly ShellAssignment[];
  /** The first is the program. */
  readonly words: readonly string[];
  /** Files of redirections. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** What follows it: `&&`, `||`, `;`, `|`, `&`, a parenthesis, or nothing. */
  readonly end: string;
  /** The commands in its substitutions, at any depth. They are also parts of their own, before this one. */
  readonly inner: readonly ShellCommand[];
}

interface ShellAssignment {
  readonly name: string;
  readonly value: string;
}

/** `open` and `close` enclose a subshell, which has its own working folder. `end` follows the parenthesis. */
export type ShellPart =
  | { readonly kind: "command"; readonly command: ShellCommand }
  | { readonly kind: "open"; readonly isSubstitution: boolean }
  | { readonly kind: "close"; readonly end: string };

/** The commands of a line without those in substitutions. */
export function outermostCommands(parts: readonly ShellPart[]): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let substitutions = 0;
  const open: boolean[] = [];
  for (const part of parts) {
    if (part.kind === "open") {
      open.push(part.isSubstitution);
      if (part.isSubstitution) substitutions++;
    } else if (part.kind === "close") {
      if (open.pop()) substitutions--;
    } else if (substitutions === 0) commands.push(part.command);
  }
  return commands;
}
