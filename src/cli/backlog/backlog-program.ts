/** The commands of backlog loops with their flags and help. */
import type { Command } from "commander";
import type { ProgramParts } from "../goals/goal-program.ts";

export function addBacklogCommands(program: Command, { io, act, common, agentOptions }: ProgramParts): void {
  const backlog = program
    .command("backlog")
    .description("stories, each by a generator, judged by an evaluator, proved by checks")
    .enablePositionalOptions();

  common(backlog.command("init").description("write the files of a backlog; what is there stays"))
    .option("--mode <mode>", "explore, implement or fix")
    .option("--prompts", "write the built-in prompts out, to be changed")
    .action(act(async (flags) => (await import("./init-backlog.ts")).backlogInitCommand(flags, io)));

  agentOptions(
    common(
      backlog.command("plan [files...]").description("stories out of specs, shown before they are written"),
    ),
  )
    .option("--mode <mode>", "explore, implement or fix")
    .option("--model <name>", "the planner's model")
    .option("--timeout <time>", "stop a turn that takes longer (default 1h)")
    .option("--replace", "instead of the stories that are there, which are archived")
    .option("--dry-run", "show them; nothing is written")
    .option("-y, --yes", "write them, and accept their checks, without asking")
    .action(act(async (flags, files) => (await import("./plan.ts")).backlogPlanCommand(files, flags, io)));

  agentOptions(common(backlog.command("run [n]").description("work on the stories, at most n iterations")))
    .option("--story <id>", "only this one")
    .option("--skip-eval", "no evaluator: the checks alone decide")
    .option("--mode <mode>", "explore, implement or fix")
    .option("--parallel <n>", "so many at a time, each in a git worktree of its own")
    .option("--budget <usd>", "dollars (default 25)")
    .option("--timeout <time>", "stop a turn that takes longer (default 1h)")
    .option("--resume", "go on with the run that was stopped, or whose process is gone")
    .option("--dry-run", "show what would be run")
    .action(act(async (flags, [n]) => (await import("./run-backlog.ts")).backlogRunCommand(n, flags, io)));

  common(backlog.command("show [id]").description("one story, or all of them in short")).action(
    act(async (flags, [id]) => (await import("./show-story.ts")).backlogShowCommand(id, flags, io)),
  );
  for (const word of ["block", "unblock"] as const) {
    common(
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
  common(
    backlog.command("import <file>").description("take over the stories of a Ralph prd.json or a PRD.md"),
  )
    .option("--reopen", "what is marked as passed is open again")
    .option("--dry-run", "show what would be taken")
    .option("-y, --yes", "do not ask")
    .action(
      act(async (flags, [file = ""]) =>
        (await import("./import-stories.ts")).backlogImportCommand(file, flags, io),
      ),
    );
  const worktrees = program
    .command("worktrees")
    .description("the git worktrees that stories are worked on in")
    .enablePositionalOptions();
  common(worktrees.command("list").description("all of ours, with their state")).action(
    act(async (flags) => (await import("../setup/worktrees.ts")).worktreesListCommand(flags, io)),
  );
  common(worktrees.command("clean").description("remove those that hold nothing which could be lost"))
    .option("--dry-run", "show which")
    .action(act(async (flags) => (await import("../setup/worktrees.ts")).worktreesCleanCommand(flags, io)));

  common(
    backlog.command("triage").description("what a person has to decide, into .loop/triage/TRIAGE_BRIEF.md"),
  ).action(act(async (flags) => (await import("./triage.ts")).backlogTriageCommand(flags, io)));
}
