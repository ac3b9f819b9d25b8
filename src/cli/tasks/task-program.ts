/** The commands for tasks and their runner, with flags and help. */
import type { Command } from "commander";
import { agentOptions, projectCommand, runnerOptions, timeoutOption, yesOption } from "../flags/options.ts";
import { EDIT_EXAMPLES, UP_HELP } from "../help.ts";
import type { ProgramParts } from "../program-parts.ts";

/** Commands that change nothing. */
export function addListCommands(program: Command, { io, act }: ProgramParts): void {
  projectCommand(program, "list", "list all loops, with the next and last fire of each task")
    .alias("ls")
    .option("--ids", "print only the ids of the tasks, one per line")
    .action(act(async (flags) => (await import("./list.ts")).listCommand(flags, io)));

  projectCommand(program, "show <id>", "show everything about one loop")
    .alias("inspect")
    .action(act(async (flags, [id = ""]) => (await import("./show.ts")).showCommand(id, flags, io)));

  projectCommand(program, "history [id]", "list past fires of tasks with their outcomes, oldest first")
    .option("--limit <n>", "show only the newest n")
    .action(act(async (flags, [id]) => (await import("./history.ts")).historyCommand(id, flags, io)));
}

export function addTaskCommands(program: Command, { io, act }: ProgramParts): void {
  projectCommand(program, "pause [ids...]", "pause tasks; pause a goal loop or a backlog at once").action(
    act(async (flags, ids) => (await import("./change.ts")).pauseCommand(ids, flags, io)),
  );
  projectCommand(program, "resume <ids...>", "resume paused tasks").action(
    act(async (flags, ids) => (await import("./change.ts")).resumeCommand(ids, flags, io)),
  );

  agentOptions(projectCommand(program, "run <id>", "fire a task now, in addition to its schedule"))
    .option("--detach", "leave the fire to the runner; do not run it here")
    .action(act(async (flags, [id = ""]) => (await import("./run.ts")).runTaskCommand(id, flags, io)));

  const edit = projectCommand(
    program,
    "edit <id> [words...]",
    "change the interval, the prompt or settings of a task; everything else stays",
  ).addHelpText("after", EDIT_EXAMPLES);
  // `--jitter` comes first: alone, `--no-jitter` would make "on" the default of every edit
  taskOptions(
    edit.option("--jitter", "turn on the fixed small delay that keeps tasks from firing all at once"),
  ).action(
    act(async (flags, [id = "", ...words]) => (await import("./edit.ts")).editCommand(id, words, flags, io)),
  );

  projectCommand(program, "delete <ids...>", "delete tasks; a running fire is stopped")
    .aliases(["remove", "rm", "stop"])
    .action(act(async (flags, ids) => (await import("./change.ts")).deleteCommand(ids, flags, io)));
  yesOption(projectCommand(program, "clear", "delete all tasks (asks first)")).action(
    act(async (flags) => (await import("./change.ts")).clearCommand(flags, io)),
  );

  projectCommand(
    program,
    "import [from]",
    "copy the tasks that claude or pi has in this folder (default: both)",
  )
    .option("--dry-run", "show what would be imported; write nothing")
    .action(act(async (flags, [from]) => (await import("./import.ts")).importCommand(from, flags, io)));
}

export function addRunnerCommands(program: Command, { io, act }: ProgramParts): void {
  runnerOptions(
    projectCommand(program, "up", "start a runner: it runs the loops of this folder until you stop it"),
  )
    .addHelpText("after", UP_HELP)
    .action(act(async (flags) => (await import("./up.ts")).upCommand(flags, io)));

  projectCommand(program, "wakeup [words...]", "for an agent in a `loop auto` turn: say when to wake it next")
    .option("--stop", "end the loop after this turn")
    .action(act(async (flags, words) => (await import("./wakeup.ts")).wakeupCommand(words, flags, io)));
}

/** Flags for creating a task and for `loop edit`. */
export function taskOptions(command: Command): Command {
  const scheduled = command
    .option("--exact", "keep the exact interval (1s or longer) instead of rounding it for cron")
    .option("--cron <expr>", "cron expression with 5 fields, instead of an interval")
    .option("--tz <zone>", "time zone of the schedule, such as Europe/Paris")
    .option("--expires <time>", "when the task ends, after a final run: 3d, 30d or never (default 7d)")
    .option("--no-jitter", "fire exactly on schedule, without the fixed small delay")
    .option("--missed <policy>", "for fires missed while nothing ran: once, skip or all; one-shots: ask")
    .option("--grace <time>", "skip a fire that is later than this")
    .option("--expect <command>", "command that must exit 0 after a fire; otherwise the fire failed")
    .option("--alert-after <n>", "send a notice after n failed or silent fires in a row");
  return timeoutOption(scheduled)
    .option("--in <place>", "where it runs: session (open conversation), headless, either (default)")
    .option("--prompt-file <file>", "read the prompt from this file (- for stdin)");
}
