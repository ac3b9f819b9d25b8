/** A shell line in parts: its commands in order, and the subshells around them. */
export interface ShellCommand {
  /** Words of the shell in front of the program, as `if` and `!`. A command can have nothing else, as at a `fi`. */
  readonly keywords: readonly string[];
  readonly assignments: readonly ShellAssignment[];
  /** The first is the program. */
  readonly words: readonly string[];
  /** Files that it reads from, and that it writes to. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** What follows it: `&&`, `||`, `;`, `|`, `&`, a parenthesis, or nothing. */
  readonly end: string;
  /** The commands in its substitutions at any depth. They stand in front of it as parts too. */
  readonly inner: readonly ShellCommand[];
}

export interface ShellAssignment {
  readonly name: string;
  readonly value: string;
}

/** `open` and `close`: a subshell, which has its own working folder. `end` follows the closing parenthesis. */
export type ShellPart =
  | { readonly kind: "command"; readonly command: ShellCommand }
  | { readonly kind: "open"; readonly isSubstitution: boolean }
  | { readonly kind: "close"; readonly end: string };

/** The commands of a line without those of substitutions, which belong to the command that they stand in. */
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
