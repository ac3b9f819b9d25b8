/** `loop completions <shell>`: generated from the program, so they are always complete. */
import type { Command } from "commander";
import { usageError } from "../../errors.ts";
import { answer, type Io } from "../io.ts";

interface Known {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly string[];
  readonly takesId: boolean;
}

export async function completionsCommand(
  program: Command,
  shell: string,
  flags: { readonly json?: boolean },
  io: Io,
): Promise<number> {
  const renderers: Record<string, (known: readonly Known[], flags: readonly string[]) => string> = {
    bash: renderBash,
    zsh: renderZsh,
    fish: renderFish,
  };
  const render = Object.hasOwn(renderers, shell) ? renderers[shell] : undefined;
  if (render === undefined)
    throw usageError(
      `There are no completions for "${shell}"; write one of: ${Object.keys(renderers).join(", ")}.`,
    );
  const script = render(known(program), longFlags(program));
  return answer(flags, io, { shell, script }, script);
}

function known(program: Command): Known[] {
  return program.commands.flatMap((command) =>
    [command.name(), ...command.aliases()].map((name) => ({
      name,
      about: command.description(),
      flags: longFlags(command),
      takesId: command.registeredArguments.some((argument) => /^ids?$/.test(argument.name())),
    })),
  );
}

function longFlags(command: Command): string[] {
  return [...command.options.flatMap((option) => (option.long ? [option.long] : [])), "--help"];
}

function renderBash(commands: readonly Known[], flags: readonly string[]): string {
  const cases = commands.map(({ name, flags: own }) => `    ${name}) words="${own.join(" ")}" ;;`).join("\n");
  const withIds = commands.filter(({ takesId }) => takesId).map(({ name }) => name);
  return `_loop() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} ${flags.join(" ")}" -- "$cur"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases}
    *) words="${flags.join(" ")}" ;;
  esac
  case "\${COMP_WORDS[1]}" in
    ${withIds.join("|")}) case "$cur" in -*) ;; *) words="$(loop list --ids 2>/dev/null)" ;; esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _loop loop`;
}

function renderZsh(commands: readonly Known[], flags: readonly string[]): string {
  const quote = (text: string) => text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
  const list = commands.map(({ name, about }) => `    '${name}:${quote(about)}'`).join("\n");
  const cases = commands
    .map(
      ({ name, flags: own, takesId }) =>
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is zsh
        `    ${name}) ${takesId ? 'ids=(${(f)"$(loop list --ids 2>/dev/null)"}); ' : ""}own=(${own.join(" ")}) ;;`,
    )
    .join("\n");
  return `#compdef loop
_loop() {
  local -a commands own ids
  commands=(
${list}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    compadd -- ${flags.join(" ")}
    return
  fi
  case "$words[2]" in
${cases}
    *) own=(${flags.join(" ")}) ;;
  esac
  compadd -a ids
  compadd -a own
}
compdef _loop loop`;
}

function renderFish(commands: readonly Known[], flags: readonly string[]): string {
  const quote = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  const lines = ["complete -c loop -f"];
  for (const flag of flags) lines.push(`complete -c loop -n __fish_use_subcommand -l ${flag.slice(2)}`);
  for (const { name, about, flags: own, takesId } of commands) {
    lines.push(`complete -c loop -n __fish_use_subcommand -a ${name} -d '${quote(about)}'`);
    for (const flag of own)
      lines.push(`complete -c loop -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`);
    if (takesId)
      lines.push(
        `complete -c loop -n '__fish_seen_subcommand_from ${name}' -a '(loop list --ids 2>/dev/null)'`,
      );
  }
  return lines.join("\n");
}
