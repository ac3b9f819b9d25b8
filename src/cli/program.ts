/** All commands in the order of `loop help`. Each family of commands has its own table. */
import { Command } from "commander";
import { usageError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { addBacklogCommands } from "./backlog/backlog-program.ts";
import { jsonOption, projectCommands, projectOptions, runnerOptions } from "./flags/options.ts";
import { addGoalCommands } from "./goals/goal-program.ts";
import { EXAMPLES, HELP } from "./help.ts";
import { addHostCommands } from "./hosts/host-program.ts";
import type { Io } from "./io.ts";
import { type Act, createAct } from "./program-parts.ts";
import type { ProjectFlags } from "./project.ts";
import { addInstallCommands, addTrustCommand } from "./setup/setup-program.ts";
import type { CreateFlags } from "./tasks/create.ts";
import { checkFirstWord } from "./tasks/slips.ts";
import { addListCommands, addRunnerCommands, addTaskCommands, taskOptions } from "./tasks/task-program.ts";

export function createProgram(io: Io, exit: (code: number) => void): Command {
  const act = createAct(io, exit);
  const program = new Command("loop")
    .description("Runs coding agents in loops: on a schedule, or until checks prove that the work is done.")
    .usage("[interval] <prompt> [options]\n       loop <command> [options]")
    .argument("[words...]", "an interval and a prompt; see the examples")
    .version(VERSION, "-V, --version")
    .helpCommand("help [command]", "show help for a command (also: loop ?)")
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp(HELP)
    // `command.ts` prints all errors
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.say(text.trimEnd()),
      outputError: () => {},
    })
    .addHelpText("after", EXAMPLES);

  const add = projectCommands(program);
  addCreation(program, act);
  addListCommands(add, act);
  addGoalCommands(add, act);
  addBacklogCommands(program, act);
  addInstallCommands(add, act);
  addHostCommands(program, act);
  addTaskCommands(add, act);
  addTrustCommand(add, act);
  addRunnerCommands(add, act);
  add("init", "create .loop/ with a config file").action(
    act(async () => (await import("./setup/init.ts")).initCommand),
  );
  addOtherCommands(program, act);
  return program;
}

function addCreation(program: Command, act: Act): void {
  taskOptions(program)
    .option("--no-now", "do not run the task once right after its creation")
    .option("--session", "delete the task when this runner or conversation ends")
    .option("--detach", "create the task and return; do not start a runner here")
    .option("--dry-run", "show what would be created; write nothing");
  runnerOptions(projectOptions(program)).action(
    act(async () => async (words: string[], flags: CreateFlags, io: Io) => {
      if (words.length === 0 && !("cron" in flags)) return program.help();
      checkFirstWord(program, words);
      return (await import("./tasks/create.ts")).createCommand(words, flags, io);
    }),
  );
}

function addOtherCommands(program: Command, act: Act): void {
  jsonOption(
    program
      .command("demo [what]")
      .description("run a demo: goal (default: a loop catches an agent that lies) or tasks"),
  ).action(
    act(async () => async (what: string | undefined, flags: ProjectFlags, io: Io) => {
      if (what === undefined || what === "goal")
        return (await import("./demo/demo-goal.ts")).demoGoal(flags, io);
      if (what === "tasks") return (await import("./demo/demo-tasks.ts")).demoTasks(flags, io);
      throw usageError(`There is no demo "${what}". Type loop demo goal or loop demo tasks.`);
    }),
  );

  jsonOption(
    program.command("completions <shell>").description("print shell completions for bash, zsh or fish"),
  )
    .addHelpText("after", '\nExample: eval "$(loop completions bash)"')
    .action(act(async () => (await import("./setup/completions.ts")).completionsCommand.bind(null, program)));
}
