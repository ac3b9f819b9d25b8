/** Flags that several commands have, each with its one help text. */
import type { Command } from "commander";

export function projectOptions(command: Command): Command {
  return jsonOption(command.option("-C, --project <dir>", "the project's folder (default: found from here)"));
}

export function jsonOption(command: Command): Command {
  return command.option("--json", "print JSON for programs");
}

export function agentOptions(command: Command): Command {
  return command
    .option("--agent <names>", "claude (default), codex, gemini, …: see `loop agents`; a,b: b when a cannot")
    .option("--agent-acp <command>", "any agent that speaks the Agent Client Protocol")
    .option("--agent-cmd <command>", "any command: prompt on stdin, answer on stdout");
}

export function notifyOption(command: Command): Command {
  return command.option("--notify-cmd <command>", "run for each notice, with LOOP_TITLE and LOOP_BODY");
}

/** Of a process that stays until it is stopped. */
export function runnerOptions(command: Command): Command {
  return notifyOption(agentOptions(command)).option("--for <time>", "end by itself after this time");
}

export function limitOptions(command: Command): Command {
  return budgetOption(command.option("--iterations <n>", "turns that count, at most 50 (default 10)"))
    .option("--time <time>", "time of turns and checks together")
    .option("--tokens <n>", "tokens in and out together");
}

export function budgetOption(command: Command): Command {
  return command.option("--budget <usd>", "dollars, at most 100 (default 25)");
}

export function timeoutOption(command: Command): Command {
  return command.option("--timeout <time>", "stop a turn that takes longer (default 1h)");
}

export function modeOption(command: Command): Command {
  return command.option("--mode <mode>", "explore, implement or fix");
}

/** `meaning`: where a yes says more than that. */
export function yesOption(command: Command, meaning = "do not ask"): Command {
  return command.option("-y, --yes", meaning);
}

/** For a flag that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
