/** The commands of tasks and of their runner, with their flags and help. */
import type { Command } from "commander";
import { agentOptions, projectOptions, runnerOptions, timeoutOption, yesOption } from "../flags/options.ts";
import { EDIT_EXAMPLES, UP_HELP } from "../help.ts";
import type { ProgramParts } from "../program-parts.ts";

/** What shows tasks and changes nothing. */
export function addListCommands(program: Command, { io, act }: ProgramParts): void {
  projectOptions(program.command("list").alias("ls").description("all tasks with their next and last fire"))
    .option("--ids", "only the ids, one per line")
    .action(act(async (flags) => (await import("./list.ts")).listCommand(flags, io)));

  projectOptions(
    program.command("show <id>").alias("inspect").description("everything about one task"),
  ).action(act(async (flags, [id = ""]) => (await import("./show.ts")).showCommand(id, flags, io)));

  projectOptions(program.command("history [id]").description("what became of every slot, oldest first"))
    .option("--limit <n>", "only the newest n")
    .action(act(async (flags, [id]) => (await import("./history.ts")).historyCommand(id, flags, io)));
}

/** What changes a task. */
export function addTaskCommands(program: Command, { io, act }: ProgramParts): void {
  projectOptions(
    program.command("pause [ids...]").description("stop firing a task; stop a goal loop at once"),
  ).action(act(async (flags, ids) => (await import("./change.ts")).pauseCommand(ids, flags, io)));
  projectOptions(program.command("resume <ids...>").description("go on after a pause")).action(
    act(async (flags, ids) => (await import("./change.ts")).resumeCommand(ids, flags, io)),
  );

  agentOptions(projectOptions(program.command("run <id>").description("fire it now, besides its schedule")))
    .option("--detach", "hand it to the runner; do not run it here")
    .action(act(async (flags, [id = ""]) => (await import("./run.ts")).runTaskCommand(id, flags, io)));

  const edit = projectOptions(program.command("edit <id> [words...]"))
    .description("change the interval, the prompt or a setting; what is not named stays")
    .addHelpText("after", EDIT_EXAMPLES);
  // `--jitter` comes first: alone, `--no-jitter` would make "on" the default of every edit
  taskOptions(edit.option("--jitter", "turn jitter on")).action(
    act(async (flags, [id = "", ...words]) => (await import("./edit.ts")).editCommand(id, words, flags, io)),
  );

  projectOptions(
    program
      .command("delete <ids...>")
      .aliases(["remove", "rm", "stop"])
      .description("end a task; a running fire is stopped"),
  ).action(act(async (flags, ids) => (await import("./change.ts")).deleteCommand(ids, flags, io)));
  yesOption(projectOptions(program.command("clear").description("delete all tasks (asks first)"))).action(
    act(async (flags) => (await import("./change.ts")).clearCommand(flags, io)),
  );

  projectOptions(
    program.command("import [from]").description("take over the tasks of claude or pi in this folder"),
  )
    .option("--dry-run", "show what would be imported; nothing is written")
    .action(act(async (flags, [from]) => (await import("./import.ts")).importCommand(from, flags, io)));
}

export function addRunnerCommands(program: Command, { io, act }: ProgramParts): void {
  runnerOptions(
    projectOptions(
      program.command("up").description("the resident runner: fires what is due, until it is stopped"),
    ),
  )
    .addHelpText("after", UP_HELP)
    .action(act(async (flags) => (await import("./up.ts")).upCommand(flags, io)));

  projectOptions(
    program.command("wakeup [words...]").description("for an agent inside `loop auto`: when to wake it next"),
  )
    .option("--stop", "end the loop with this turn")
    .action(act(async (flags, words) => (await import("./wakeup.ts")).wakeupCommand(words, flags, io)));
}

/** What shapes a task, at its creation and in `loop edit`. */
export function taskOptions(command: Command): Command {
  const scheduled = command
    .option("--exact", "keep the interval as it is (down to 1s) instead of the nearest that cron can say")
    .option("--cron <expr>", "5-field cron expression instead of an interval")
    .option("--tz <zone>", "time zone of the schedule, such as Europe/Paris")
    .option("--expires <time>", "3d, 30d or never (default 7d): one final run, then it is deleted")
    .option("--no-jitter", "fire on the slot itself")
    .option("--missed <policy>", "slots that passed while nothing ran: once, skip, all; ask (one-shots)")
    .option("--grace <time>", "a slot that is later than this is not delivered any more")
    .option("--expect <command>", "a fire has succeeded only if this command exits 0 after it")
    .option("--alert-after <n>", "notify after n failed or silent slots in a row");
  return timeoutOption(scheduled)
    .option("--in <place>", "where it runs: session (a live conversation), headless, either (default)")
    .option("--prompt-file <file>", "read the prompt from a file, - for stdin");
}
