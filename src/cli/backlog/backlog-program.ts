/** The commands of backlog loops with their flags and help. */
import type { Command } from "commander";
import {
  type Add,
  agentOptions,
  budgetOption,
  modeOption,
  notifyOption,
  projectCommands,
  timeoutOption,
  yesOption,
} from "../flags/options.ts";
import type { Act } from "../program-parts.ts";

export function addBacklogCommands(program: Command, act: Act): void {
  const backlog = program
    .command("backlog")
    .description("work through stories: one agent builds, another reviews, checks decide")
    .enablePositionalOptions();
  const add = projectCommands(backlog);
  addPlanCommands(add, act);
  addRun(add, act);
  addStoryCommands(add, act);
  addWorktreeCommands(program, act);
}

function addPlanCommands(add: Add, act: Act): void {
  modeOption(add("init", "create the files of a backlog; keeps existing content"))
    .option("--prompts", "also write the built-in prompts to files, so that you can edit them")
    .action(act(async () => (await import("./init-backlog.ts")).backlogInitCommand));

  const plan = agentOptions(
    add("plan [files...]", "turn specs into stories; shows them before it writes them"),
  );
  timeoutOption(modeOption(plan).option("--model <name>", "the model that the planner uses"))
    .option("--replace", "replace the existing stories; the old ones are archived")
    .option("--dry-run", "show the stories and write nothing");
  yesOption(plan, "write the stories and accept their checks without asking").action(
    act(async () => (await import("./plan.ts")).backlogPlanCommand),
  );
}

function addRun(add: Add, act: Act): void {
  const run = agentOptions(add("run [n]", "work on the stories for at most n iterations"))
    .option("--story <id>", "work on this story only")
    .option("--skip-eval", "skip the evaluator; only the checks decide");
  modeOption(run).option("--parallel <n>", "work on n stories at a time, each in its own git worktree");
  notifyOption(timeoutOption(budgetOption(run)))
    .option("--resume", "continue a run that was stopped or whose process ended")
    .option("--dry-run", "show the plan and run nothing")
    .action(act(async () => (await import("./run-backlog.ts")).backlogRunCommand));
}

function addStoryCommands(add: Add, act: Act): void {
  add("show [id]", "show one story, or a list of all stories").action(
    act(async () => (await import("./show-story.ts")).backlogShowCommand),
  );
  for (const word of ["block", "unblock"] as const) {
    add(
      `${word} <id> [reason...]`,
      word === "block" ? "stop work on a story until you unblock it" : "allow work on a blocked story again",
    ).action(act(async () => (await import("./block.ts")).backlogBlockCommand.bind(null, word)));
  }
  yesOption(
    add("import <file>", "import the stories of a Ralph prd.json or a PRD.md")
      .option("--reopen", "import passed stories as open")
      .option("--dry-run", "show the stories and write nothing"),
  ).action(act(async () => (await import("./import-stories.ts")).backlogImportCommand));
  add("triage", "write the decisions that wait for you to .loop/triage/TRIAGE_BRIEF.md").action(
    act(async () => (await import("./triage.ts")).backlogTriageCommand),
  );
}

function addWorktreeCommands(program: Command, act: Act): void {
  const worktrees = program
    .command("worktrees")
    .description("the git worktrees in which agents work on stories")
    .enablePositionalOptions();
  const add = projectCommands(worktrees);
  add("list", "list the worktrees that loop created, with their state").action(
    act(async () => (await import("../setup/worktrees.ts")).worktreesListCommand),
  );
  add("clean", "remove worktrees that hold no unmerged work")
    .option("--dry-run", "show them and remove nothing")
    .action(act(async () => (await import("../setup/worktrees.ts")).worktreesCleanCommand));
}
