/** All commands with their flags and help. The work is in `commands/`, loaded when it is asked for. */
import { Command } from "commander";
import { VERSION } from "../version.ts";
import { addBacklogCommands } from "./backlog/backlog-program.ts";
import { addGoalCommands } from "./goals/goal-program.ts";
import { EDIT_EXAMPLES, EXAMPLES, HELP, TRUST_HELP, UP_HELP } from "./help.ts";
import { addHostCommands } from "./hosts/host-program.ts";
import type { Io } from "./io.ts";
import { checkFirstWord, flagsBefore } from "./tasks/slips.ts";

/** Where a command lives: its module is loaded only when it is called. */
type Action = (flags: never, args: string[]) => Promise<number>;

export function createProgram(io: Io, exit: (code: number) => void): Command {
  const act =
    (action: Action) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      exit(await action(Object.assign(flagsBefore(command), command.opts()) as never, command.args));
    };

  const program = new Command("loop")
    .description("Runs coding agents in loops that people can trust: on a schedule, or until proved done.")
    .usage("[interval] <prompt> [options]\n       loop <command> [options]")
    .argument("[words...]", "an interval and a prompt; see the examples")
    .version(VERSION, "-V, --version")
    .helpCommand("help [command]", "help for a command (also: loop ?)")
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp(HELP)
    // errors are said in one place, by `main.ts`
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.say(text.trimEnd()),
      outputError: () => {},
    })
    .addHelpText("after", EXAMPLES);

  taskOptions(program)
    .option("--no-now", "do not run it once at creation")
    .option("--session", "keep it in this runner only, not on disk for the next one")
    .option("--detach", "create it and return; do not become the runner")
    .option("--dry-run", "show what would be created; nothing is written");
  runnerOptions(common(program)).action(
    act(async (flags, words) => {
      if (words.length === 0 && !("cron" in (flags as object))) return program.help();
      checkFirstWord(program, words);
      const { createCommand } = await import("./tasks/create.ts");
      return createCommand(words, flags, io);
    }),
  );

  common(program.command("list").alias("ls").description("all tasks with their next and last fire"))
    .option("--ids", "only the ids, one per line")
    .action(act(async (flags) => (await import("./tasks/list.ts")).listCommand(flags, io)));

  common(program.command("show <id>").alias("inspect").description("everything about one task")).action(
    act(async (flags, [id = ""]) => (await import("./tasks/show.ts")).showCommand(id, flags, io)),
  );

  common(program.command("history [id]").description("what became of every slot, oldest first"))
    .option("--limit <n>", "only the newest n")
    .action(act(async (flags, [id]) => (await import("./tasks/history.ts")).historyCommand(id, flags, io)));

  addGoalCommands(program, { io, act, common, agentOptions });
  addBacklogCommands(program, { io, act, common, agentOptions });
  addHostCommands(program, { io, act, common, agentOptions });

  common(
    program.command("pause [ids...]").description("stop firing a task; stop a goal loop at once"),
  ).action(act(async (flags, ids) => (await import("./tasks/change.ts")).pauseCommand(ids, flags, io)));
  common(program.command("resume <ids...>").description("go on after a pause")).action(
    act(async (flags, ids) => (await import("./tasks/change.ts")).resumeCommand(ids, flags, io)),
  );

  const run = common(program.command("run <id>").description("fire it now, besides its schedule"));
  agentOptions(run)
    .option("--detach", "hand it to the runner; do not run it here")
    .action(act(async (flags, [id = ""]) => (await import("./tasks/run.ts")).runCommand(id, flags, io)));

  const edit = common(program.command("edit <id> [words...]"))
    .description("change the interval, the prompt or a setting; what is not named stays")
    .addHelpText("after", EDIT_EXAMPLES);
  // `--jitter` comes first: alone, `--no-jitter` would make "on" the default of every edit
  taskOptions(edit.option("--jitter", "turn jitter on")).action(
    act(async (flags, [id = "", ...words]) =>
      (await import("./tasks/edit.ts")).editCommand(id, words, flags, io),
    ),
  );

  common(
    program
      .command("delete <ids...>")
      .aliases(["remove", "rm", "stop"])
      .description("end a task; a running fire is stopped"),
  ).action(act(async (flags, ids) => (await import("./tasks/change.ts")).deleteCommand(ids, flags, io)));
  common(program.command("clear").description("delete all tasks (asks first)"))
    .option("-y, --yes", "do not ask")
    .action(act(async (flags) => (await import("./tasks/change.ts")).clearCommand(flags, io)));

  common(program.command("import [from]").description("take over the tasks of claude or pi in this folder"))
    .option("--dry-run", "show what would be imported; nothing is written")
    .action(act(async (flags, [from]) => (await import("./tasks/import.ts")).importCommand(from, flags, io)));

  common(
    program
      .command("trust")
      .description("let run what this folder brought along, once you have seen it (asks first)"),
  )
    .option("-y, --yes", "do not ask")
    .option("--revoke", "trust no file of this project any more")
    .option("--list", "show the files that are trusted, of all projects")
    .addHelpText("after", TRUST_HELP)
    .action(act(async (flags) => (await import("./setup/trust.ts")).trustCommand(flags, io)));

  const up = common(
    program.command("up").description("the resident runner: fires what is due, until it is stopped"),
  );
  runnerOptions(up)
    .addHelpText("after", UP_HELP)
    .action(act(async (flags) => (await import("./tasks/up.ts")).upCommand(flags, io)));

  common(
    program.command("wakeup [words...]").description("for an agent inside `loop auto`: when to wake it next"),
  )
    .option("--stop", "end the loop with this turn")
    .action(act(async (flags, words) => (await import("./tasks/wakeup.ts")).wakeupCommand(words, flags, io)));

  common(program.command("init").description("write .loop/ with a config file")).action(
    act(async (flags) => (await import("./setup/init.ts")).initCommand(flags, io)),
  );

  program
    .command("demo [what]")
    .description("goal (default): an agent that lies and a loop that does not; tasks: a morning of schedules")
    .option("--json", "one JSON object per line")
    .action(act(async (flags, [what]) => (await import("./demo/demo.ts")).demoCommand(what, flags, io)));

  program
    .command("completions <shell>")
    .description("print completions for bash, zsh or fish")
    .option("--json", "print JSON for programs")
    .addHelpText("after", '\nExample: eval "$(loop completions bash)"')
    .action(
      act(async (flags, [shell = ""]) =>
        (await import("./setup/completions.ts")).completionsCommand(shell, flags, program, io),
      ),
    );

  return program;
}

function common(command: Command): Command {
  return command
    .option("-C, --project <dir>", "the project's folder (default: found from here)")
    .option("--json", "print JSON for programs");
}

function taskOptions(command: Command): Command {
  return command
    .option("--exact", "keep the interval as it is (down to 1s) instead of the nearest that cron can say")
    .option("--cron <expr>", "5-field cron expression instead of an interval")
    .option("--tz <zone>", "time zone of the schedule, such as Europe/Paris")
    .option("--expires <time>", "3d, 30d or never (default 7d): one final run, then it is deleted")
    .option("--no-jitter", "fire on the slot itself")
    .option("--missed <policy>", "slots that passed while nothing ran: once, skip, all; ask (one-shots)")
    .option("--grace <time>", "a slot that is later than this is not delivered any more")
    .option("--expect <command>", "a fire has succeeded only if this command exits 0 after it")
    .option("--alert-after <n>", "notify after n failed or silent slots in a row")
    .option("--timeout <time>", "stop a turn that takes longer (default 1h)")
    .option("--in <place>", "where it runs: session (a live conversation), headless, either (default)")
    .option("--prompt-file <file>", "read the prompt from a file, - for stdin");
}

function agentOptions(command: Command): Command {
  return command
    .option("--agent <names>", "claude (default), codex, gemini, …: see `loop agents`; a,b: b when a cannot")
    .option("--agent-acp <command>", "any agent that speaks the Agent Client Protocol")
    .option("--agent-cmd <command>", "any command: prompt on stdin, answer on stdout");
}

function runnerOptions(command: Command): Command {
  return agentOptions(command)
    .option("--notify-cmd <command>", "run for each notice, with LOOP_TITLE and LOOP_BODY")
    .option("--for <time>", "end by itself after this time");
}
