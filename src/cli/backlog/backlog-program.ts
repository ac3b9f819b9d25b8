/** The commands of backlog loops with their flags and help. */
import type { Command } from "commander";
import {
  agentOptions,
  budgetOption,
  modeOption,
  notifyOption,
  projectCommand,
  timeoutOption,
  yesOption,
} from "../flags/options.ts";
import type { ProgramParts } from "../program-parts.ts";

export function addBacklogCommands(program: Command, parts: ProgramParts): void {
  const backlog = program
    .command("backlog")
    .description("work through stories: one agent builds, another reviews, checks decide")
    .enablePositionalOptions();
  addPlanCommands(backlog, parts);
  addRun(backlog, parts);
  addStoryCommands(backlog, parts);
  addWorktreeCommands(program, parts);
}

function addPlanCommands(backlog: Command, { io, act }: ProgramParts): void {
  modeOption(projectCommand(backlog, "init", "create the files of a backlog; keeps existing content"))
    .option("--prompts", "also write the built-in prompts to files, so that you can edit them")
    .action(act(async (flags) => (await import("./init-backlog.ts")).backlogInitCommand(flags, io)));

  const plan = agentOptions(
    projectCommand(backlog, "plan [files...]", "turn specs into stories; shows them before it writes them"),
  );
  timeoutOption(modeOption(plan).option("--model <name>", "the model that the planner uses"))
    .option("--replace", "replace the existing stories; the old ones are archived")
    .option("--dry-run", "show the stories and write nothing");
  yesOption(plan, "write the stories and accept their checks without asking").action(
    act(async (flags, files) => (await import("./plan.ts")).backlogPlanCommand(files, flags, io)),
  );
}

function addRun(backlog: Command, { io, act }: ProgramParts): void {
  const run = agentOptions(projectCommand(backlog, "run [n]", "work on the stories for at most n iterations"))
    .option("--story <id>", "work on this story only")
    .option("--skip-eval", "skip the evaluator; only the checks decide");
  modeOption(run).option("--parallel <n>", "work on n stories at a time, each in its own git worktree");
  notifyOption(timeoutOption(budgetOption(run)))
    .option("--resume", "continue a run that was stopped or whose process ended")
    .option("--dry-run", "show the plan and run nothing")
    .action(act(async (flags, [n]) => (await import("./run-backlog.ts")).backlogRunCommand(n, flags, io)));
}

function addStoryCommands(backlog: Command, { io, act }: ProgramParts): void {
  projectCommand(backlog, "show [id]", "show one story, or a list of all stories").action(
    act(async (flags, [id]) => (await import("./show-story.ts")).backlogShowCommand(id, flags, io)),
  );
  for (const word of ["block", "unblock"] as const) {
    projectCommand(
      backlog,
      `${word} <id> [reason...]`,
      word === "block" ? "stop work on a story until you unblock it" : "allow work on a blocked story again",
    ).action(
      act(async (flags, [id = "", ...words]) =>
        (await import("./block.ts")).backlogBlockCommand(word, id, words, flags, io),
      ),
    );
  }
  yesOption(
    projectCommand(backlog, "import <file>", "import the stories of a Ralph prd.json or a PRD.md")
      .option("--reopen", "import passed stories as open")
      .option("--dry-run", "show the stories and write nothing"),
  ).action(
    act(async (flags, [file = ""]) =>
      (await import("./import-stories.ts")).backlogImportCommand(file, flags, io),
    ),
  );
  projectCommand(
    backlog,
    "triage",
    "write the decisions that wait for you to .loop/triage/TRIAGE_BRIEF.md",
  ).action(act(async (flags) => (await import("./triage.ts")).backlogTriageCommand(flags, io)));
}

function addWorktreeCommands(program: Command, { io, act }: ProgramParts): void {
  const worktrees = program
    .command("worktrees")
    .description("the git worktrees in which agents work on stories")
    .enablePositionalOptions();
  projectCommand(worktrees, "list", "list the worktrees that loop created, with their state").action(
    act(async (flags) => (await import("../setup/worktrees.ts")).worktreesListCommand(flags, io)),
  );
  projectCommand(worktrees, "clean", "remove worktrees that hold no unmerged work")
    .option("--dry-run", "show them and remove nothing")
    .action(act(async (flags) => (await import("../setup/worktrees.ts")).worktreesCleanCommand(flags, io)));
}
