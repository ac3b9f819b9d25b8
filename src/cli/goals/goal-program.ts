/** The commands of goal loops with their flags and help. */
import type { Command } from "commander";
import {
  agentOptions,
  collect,
  limitOptions,
  notifyOption,
  projectOptions,
  timeoutOption,
  yesOption,
} from "../flags/options.ts";
import { UNTIL_HELP } from "../help.ts";
import type { ProgramParts } from "../program-parts.ts";

export function addGoalCommands(program: Command, parts: ProgramParts): void {
  addUntil(program, parts);
  addScore(program, parts);
  addRunCommands(program, parts);
  addDecisionCommands(program, parts);
}

function addUntil(program: Command, { io, act }: ProgramParts): void {
  const until = projectOptions(program.command("until [words...]"))
    .description("work turn after turn until checks that the engine itself runs are green")
    .option(
      "--check <name=command>",
      "a criterion: exit 0, or a number: 'cov=npm run -s cov >= 80' (again for more)",
      collect,
    )
    .option("--protect <glob>", "more files that the agent must not change", collect)
    .option("--allow-changes <glob>", "files of the checks that it may change", collect);
  limitOptions(agentOptions(until))
    .option("--context <how>", "continue one conversation (default) or a fresh one per turn: continue, fresh")
    .option("--exit-on <what>", "both (proof and the agent's signal, default) or proof");
  yesOption(until, "skip the gates; ends as done with a note when the agent never signals")
    .option("--gate-timeout <time>", "take the default answer when nobody has answered by then")
    .option("--gate-default <answer>", "approve or reject (default)")
    .option("--steps <file>", "the steps, one per line or as a Markdown list; - for stdin")
    .option("--prompt-file <file>", "read (more of) the spec from a file, - for stdin")
    .option("--reversibility <type>", "2A, 2B or 1, instead of what the words say");
  timeoutOption(until)
    .option("--check-timeout <time>", "stop a check that takes longer (default 10m)")
    .option("--score-with <who>", "rubric (default) or agent")
    .option("--force", "start it although the spec scores below 5");
  notifyOption(until)
    .option("--detach", "create it and return; loop continue or loop up runs it")
    .option("--dry-run", "show the score and the checks; nothing is written or run")
    .addHelpText("after", UNTIL_HELP)
    .action(act(async (flags, words) => (await import("./until.ts")).untilCommand(words, flags, io)));
}

function addScore(program: Command, { io, act }: ProgramParts): void {
  const score = projectOptions(
    program
      .command("score [words...]")
      .description("score a spec by the rubric, with the words that earned it"),
  )
    .option("--check <name=command>", "count this check too (again for more)", collect)
    .option("--protect <glob>", "count these protected files too", collect)
    .option("--prompt-file <file>", "read the spec from a file, - for stdin")
    .option("--score-with <who>", "rubric (default) or agent");
  agentOptions(score).action(
    act(async (flags, words) => (await import("./score.ts")).scoreCommand(words, flags, io)),
  );
}

/** Where a goal stands, and whether it goes on. */
function addRunCommands(program: Command, { io, act }: ProgramParts): void {
  projectOptions(
    program.command("status [goal]").description("where a goal loop stands, and what it waits for"),
  ).action(act(async (flags, [id]) => (await import("./goal.ts")).statusCommand(id, flags, io)));

  const goOn = limitOptions(
    projectOptions(
      program.command("continue [goal]").description("go on with a goal loop; limits given here are added"),
    ),
  ).option("--now", "do not wait for a quota or an outage any longer");
  notifyOption(goOn)
    .option("--detach", "do not run it here")
    .action(act(async (flags, [id]) => (await import("./goal.ts")).continueCommand(id, flags, io)));

  const cancel = projectOptions(
    program.command("cancel [goal]").description("end a goal loop at once; asks whether to keep its state"),
  )
    .option("--keep", "keep its state and checkpoints")
    .option("--no-keep", "delete its state and checkpoints");
  yesOption(cancel, "do not ask; keeps the state").action(
    act(async (flags, [id]) => {
      const { stopBacklog } = await import("../backlog/stop-backlog.ts");
      const stopped = await stopBacklog("cancel", id, flags, io);
      return stopped ?? (await import("./goal.ts")).cancelCommand(id, flags, io);
    }),
  );
}

/** What a person decides about a goal, and on what. */
function addDecisionCommands(program: Command, { io, act }: ProgramParts): void {
  for (const answer of ["approve", "reject"] as const) {
    projectOptions(program.command(`${answer} [words...]`))
      .description(
        `${answer === "approve" ? "yes" : "no"} to what a goal loop asks: [goal] [a note for the agent]`,
      )
      .action(
        act(async (flags, words) => (await import("./goal.ts")).answerCommand(answer, words, flags, io)),
      );
  }

  yesOption(
    projectOptions(
      program
        .command("accept [goal]")
        .description("look at changes of what the checks consist of, and accept them"),
    ),
  ).action(act(async (flags, [id]) => (await import("./accept.ts")).acceptCommand(id, flags, io)));

  yesOption(
    projectOptions(program.command("rollback [words...]")).description(
      "list the checkpoints of a goal loop, or put the files back: [goal] [step]",
    ),
  ).action(act(async (flags, words) => (await import("./rollback.ts")).rollbackCommand(words, flags, io)));

  projectOptions(
    program.command("report [goal]").description("receipt and evidence of a goal loop as Markdown"),
  ).action(act(async (flags, [id]) => (await import("./goal.ts")).reportCommand(id, flags, io)));
}
