/** Flags that several commands share, each with one help text. */
import type { Command, CommandOptions } from "commander";

/** For commands that programs call: they are not in `loop help`. */
export const HIDDEN: CommandOptions = { hidden: true };

/** Adds a command that works on a project. */
export type Add = (name: string, about: string, how?: CommandOptions) => Command;

export function projectCommands(parent: Command): Add {
  return (name, about, how) => projectOptions(parent.command(name, how).description(about));
}

export function projectOptions(command: Command): Command {
  return jsonOption(
    command.option("-C, --project <dir>", "project folder (default: found from the current folder)"),
  );
}

export function jsonOption(command: Command): Command {
  return command.option("--json", "print JSON instead of text");
}

export function agentOptions(command: Command): Command {
  return command
    .option(
      "--agent <names>",
      "claude (default), codex, gemini, … (see `loop agents`); a,b: b is the fallback",
    )
    .option("--agent-acp <command>", "command that starts an agent of the Agent Client Protocol")
    .option("--agent-cmd <command>", "any command that reads the prompt on stdin and prints the answer");
}

/** For commands that run loops. `program-parts.ts` handles `--no-mask`. */
export function notifyOption(command: Command): Command {
  return command
    .option("--notify-cmd <command>", "command to run for each notice; it gets LOOP_TITLE and LOOP_BODY")
    .option("--no-mask", "do not mask secrets in the output of agents and checks");
}

export function runnerOptions(command: Command): Command {
  return notifyOption(agentOptions(command)).option(
    "--for <time>",
    "stop the runner after this time, such as 8h",
  );
}

export function limitOptions(command: Command): Command {
  return budgetOption(
    command.option("--iterations <n>", "limit of iterations (a new loop has 10; at most 50)"),
  )
    .option("--time <time>", "limit of time for turns and checks together, such as 2h")
    .option("--tokens <n>", "limit of tokens, input and output together");
}

export function budgetOption(command: Command): Command {
  return command.option("--budget <usd>", "limit in US dollars (a new loop has 25; at most 100)");
}

export function timeoutOption(command: Command): Command {
  return command.option("--timeout <time>", "stop a turn that takes longer than this (default 1h)");
}

export function modeOption(command: Command): Command {
  return command.option("--mode <mode>", "kind of work: explore, implement or fix");
}

export function yesOption(command: Command, meaning = "do not ask for confirmation"): Command {
  return command.option("-y, --yes", meaning);
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
