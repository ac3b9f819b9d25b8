/** The commands of backlog loops with their flags and help. */
import type { Command } from "commander";
import {
  agentOptions,
  budgetOption,
  modeOption,
  notifyOption,
  projectOptions,
  timeoutOption,
  yesOption,
} from "../flags/options.ts";
import type { ProgramParts } from "../program-parts.ts";

export function addBacklogCommands(program: Command, parts: ProgramParts): void {
  const backlog = program
    .command("backlog")
    .description("stories, each by a generator, judged by an evaluator, proved by checks")
    .enablePositionalOptions();
  addPlanCommands(backlog, parts);
  addRun(backlog, parts);
  addStoryCommands(backlog, parts);
  addWorktreeCommands(program, parts);
}

function addPlanCommands(backlog: Command, { io, act }: ProgramParts): void {
  modeOption(
    projectOptions(backlog.command("init").description("write the files of a backlog; what is there stays")),
  )
    .option("--prompts", "write the built-in prompts out, to be changed")
    .action(act(async (flags) => (await import("./init-backlog.ts")).backlogInitCommand(flags, io)));

  const plan = agentOptions(
    projectOptions(
      backlog.command("plan [files...]").description("stories out of specs, shown before they are written"),
    ),
  );
  timeoutOption(modeOption(plan).option("--model <name>", "the planner's model"))
    .option("--replace", "instead of the stories that are there, which are archived")
    .option("--dry-run", "show them; nothing is written");
  yesOption(plan, "write them, and accept their checks, without asking").action(
    act(async (flags, files) => (await import("./plan.ts")).backlogPlanCommand(files, flags, io)),
  );
}

function addRun(backlog: Command, { io, act }: ProgramParts): void {
  const run = agentOptions(
    projectOptions(backlog.command("run [n]").description("work on the stories, at most n iterations")),
  )
    .option("--story <id>", "only this one")
    .option("--skip-eval", "no evaluator: the checks alone decide");
  modeOption(run).option("--parallel <n>", "so many at a time, each in a git worktree of its own");
  notifyOption(timeoutOption(budgetOption(run)))
    .option("--resume", "go on with the run that was stopped, or whose process is gone")
    .option("--dry-run", "show what would be run")
    .action(act(async (flags, [n]) => (await import("./run-backlog.ts")).backlogRunCommand(n, flags, io)));
}

function addStoryCommands(backlog: Command, { io, act }: ProgramParts): void {
  projectOptions(backlog.command("show [id]").description("one story, or all of them in short")).action(
    act(async (flags, [id]) => (await import("./show-story.ts")).backlogShowCommand(id, flags, io)),
  );
  for (const word of ["block", "unblock"] as const) {
    projectOptions(
      backlog
        .command(`${word} <id> [reason...]`)
        .description(word === "block" ? "leave a story out" : "take a story up again"),
    ).action(
      act(async (flags, [id = "", ...words]) => {
        const commands = await import("./block.ts");
        const command = word === "block" ? commands.backlogBlockCommand : commands.backlogUnblockCommand;
        return command(id, words, flags, io);
      }),
    );
  }
  yesOption(
    projectOptions(
      backlog.command("import <file>").description("take over the stories of a Ralph prd.json or a PRD.md"),
    )
      .option("--reopen", "what is marked as passed is open again")
      .option("--dry-run", "show what would be taken"),
  ).action(
    act(async (flags, [file = ""]) =>
      (await import("./import-stories.ts")).backlogImportCommand(file, flags, io),
    ),
  );
  projectOptions(
    backlog.command("triage").description("what a person has to decide, into .loop/triage/TRIAGE_BRIEF.md"),
  ).action(act(async (flags) => (await import("./triage.ts")).backlogTriageCommand(flags, io)));
}

function addWorktreeCommands(program: Command, { io, act }: ProgramParts): void {
  const worktrees = program
    .command("worktrees")
    .description("the git worktrees that stories are worked on in")
    .enablePositionalOptions();
  projectOptions(worktrees.command("list").description("all of ours, with their state")).action(
    act(async (flags) => (await import("../setup/worktrees.ts")).worktreesListCommand(flags, io)),
  );
  projectOptions(worktrees.command("clean").description("remove those that hold nothing which could be lost"))
    .option("--dry-run", "show which")
    .action(act(async (flags) => (await import("../setup/worktrees.ts")).worktreesCleanCommand(flags, io)));
}
