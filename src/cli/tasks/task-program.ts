/** The commands for tasks and their runner, with flags and help. */
import type { Command } from "commander";
import { type Add, agentOptions, runnerOptions, timeoutOption, yesOption } from "../flags/options.ts";
import { EDIT_EXAMPLES, UP_HELP } from "../help.ts";
import type { Act } from "../program-parts.ts";

/** Commands that change nothing. */
export function addListCommands(add: Add, act: Act): void {
  add("list", "list all loops, with the next and last fire of each task")
    .alias("ls")
    .option("--ids", "print only the ids of the tasks, one per line")
    .action(act(async () => (await import("./list.ts")).listCommand));

  add("show <id>", "show everything about one loop")
    .alias("inspect")
    .action(act(async () => (await import("./show.ts")).showCommand));

  add("history [id]", "list past fires of tasks with their outcomes, oldest first")
    .option("--limit <n>", "show only the newest n")
    .action(act(async () => (await import("./history.ts")).historyCommand));
}

export function addTaskCommands(add: Add, act: Act): void {
  add("pause [ids...]", "pause tasks; pause a goal loop or a backlog at once").action(
    act(async () => (await import("./change.ts")).pauseCommand),
  );
  add("resume <ids...>", "resume paused tasks").action(
    act(async () => (await import("./change.ts")).resumeCommand),
  );

  agentOptions(add("run <id>", "fire a task now, in addition to its schedule"))
    .option("--detach", "leave the fire to the runner; do not run it here")
    .action(act(async () => (await import("./run.ts")).runTaskCommand));

  const edit = add(
    "edit <id> [words...]",
    "change the interval, the prompt or settings of a task; everything else stays",
  ).addHelpText("after", EDIT_EXAMPLES);
  // `--jitter` comes first: alone, `--no-jitter` would make "on" the default of every edit
  taskOptions(
    edit.option("--jitter", "turn on the fixed small delay that keeps tasks from firing all at once"),
  ).action(act(async () => (await import("./edit.ts")).editCommand));

  add("delete <ids...>", "delete tasks; a running fire is stopped")
    .aliases(["remove", "rm", "stop"])
    .action(act(async () => (await import("./change.ts")).deleteCommand));
  yesOption(add("clear", "delete all tasks (asks first)")).action(
    act(async () => (await import("./change.ts")).clearCommand),
  );

  add("import [from]", "copy the tasks that claude or pi has in this folder (default: both)")
    .option("--dry-run", "show what would be imported; write nothing")
    .action(act(async () => (await import("./import.ts")).importCommand));
}

export function addRunnerCommands(add: Add, act: Act): void {
  runnerOptions(add("up", "start a runner: it runs the loops of this folder until you stop it"))
    .addHelpText("after", UP_HELP)
    .action(act(async () => (await import("./up.ts")).upCommand));

  add("wakeup [words...]", "for an agent in a `loop auto` turn: say when to wake it next")
    .option("--stop", "end the loop after this turn")
    .action(act(async () => (await import("./wakeup.ts")).wakeupCommand));
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
