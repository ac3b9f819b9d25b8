/** The commands of goal loops with their flags and help. */
import type { Command } from "commander";
import { UNTIL_HELP } from "../help.ts";
import type { Io } from "../io.ts";

type Action = (flags: never, args: string[]) => Promise<number>;

export interface ProgramParts {
  readonly io: Io;
  act(action: Action): (...given: unknown[]) => Promise<void>;
  common(command: Command): Command;
  agentOptions(command: Command): Command;
}

export function addGoalCommands(program: Command, { io, act, common, agentOptions }: ProgramParts): void {
  const until = common(program.command("until [words...]"))
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
    .option("--exit-on <what>", "both (proof and the agent's signal, default) or proof")
    .option("-y, --yes", "skip the gates; ends as done with a note when the agent never signals")
    .option("--gate-timeout <time>", "take the default answer when nobody has answered by then")
    .option("--gate-default <answer>", "approve or reject (default)")
    .option("--steps <file>", "the steps, one per line or as a Markdown list; - for stdin")
    .option("--prompt-file <file>", "read (more of) the spec from a file, - for stdin")
    .option("--reversibility <type>", "2A, 2B or 1, instead of what the words say")
    .option("--timeout <time>", "stop a turn that takes longer (default 1h)")
    .option("--check-timeout <time>", "stop a check that takes longer (default 10m)")
    .option("--score-with <who>", "rubric (default) or agent")
    .option("--force", "start it although the spec scores below 5")
    .option("--notify-cmd <command>", "run for each notice, with LOOP_TITLE and LOOP_BODY")
    .option("--detach", "create it and return; loop continue or loop up runs it")
    .option("--dry-run", "show the score and the checks; nothing is written or run")
    .addHelpText("after", UNTIL_HELP)
    .action(act(async (flags, words) => (await import("./until.ts")).untilCommand(words, flags, io)));

  common(
    program
      .command("score [words...]")
      .description("score a spec by the rubric, with the words that earned it"),
  )
    .option("--check <name=command>", "count this check too (again for more)", collect)
    .option("--protect <glob>", "count these protected files too", collect)
    .option("--prompt-file <file>", "read the spec from a file, - for stdin")
    .option("--score-with <who>", "rubric (default) or agent")
    .option("--agent <names>", "for --score-with agent: claude, codex, … (see `loop agents`)")
    .option("--agent-cmd <command>", "for --score-with agent: any command")
    .option("--agent-acp <command>", "for --score-with agent: any that speaks ACP")
    .action(act(async (flags, words) => (await import("./score.ts")).scoreCommand(words, flags, io)));

  common(
    program.command("status [goal]").description("where a goal loop stands, and what it waits for"),
  ).action(act(async (flags, [id]) => (await import("./goal.ts")).statusCommand(id, flags, io)));

  limitOptions(
    common(
      program.command("continue [goal]").description("go on with a goal loop; limits given here are added"),
    ),
  )
    .option("--now", "do not wait for a quota or an outage any longer")
    .option("--notify-cmd <command>", "run for each notice, with LOOP_TITLE and LOOP_BODY")
    .option("--detach", "do not run it here")
    .action(act(async (flags, [id]) => (await import("./goal.ts")).continueCommand(id, flags, io)));

  common(
    program.command("cancel [goal]").description("end a goal loop at once; asks whether to keep its state"),
  )
    .option("--keep", "keep its state and checkpoints")
    .option("--no-keep", "delete its state and checkpoints")
    .option("-y, --yes", "do not ask; keeps the state")
    .action(
      act(async (flags, [id]) => {
        const { stopBacklog } = await import("../backlog/stop-backlog.ts");
        const stopped = await stopBacklog("cancel", id, flags, io);
        return stopped ?? (await import("./goal.ts")).cancelCommand(id, flags, io);
      }),
    );

  for (const answer of ["approve", "reject"] as const) {
    common(program.command(`${answer} [words...]`))
      .description(
        `${answer === "approve" ? "yes" : "no"} to what a goal loop asks: [goal] [a note for the agent]`,
      )
      .action(
        act(async (flags, words) => (await import("./goal.ts")).answerCommand(answer, words, flags, io)),
      );
  }

  common(
    program
      .command("accept [goal]")
      .description("look at changes of what the checks consist of, and accept them"),
  )
    .option("-y, --yes", "do not ask")
    .action(act(async (flags, [id]) => (await import("./accept.ts")).acceptCommand(id, flags, io)));

  common(program.command("rollback [words...]"))
    .description("list the checkpoints of a goal loop, or put the files back: [goal] [step]")
    .option("-y, --yes", "do not ask")
    .action(act(async (flags, words) => (await import("./rollback.ts")).rollbackCommand(words, flags, io)));

  common(
    program.command("report [goal]").description("receipt and evidence of a goal loop as Markdown"),
  ).action(act(async (flags, [id]) => (await import("./goal.ts")).reportCommand(id, flags, io)));
}

function limitOptions(command: Command): Command {
  return command
    .option("--iterations <n>", "turns that count, at most 50 (default 10)")
    .option("--budget <usd>", "dollars, at most 100 (default 25)")
    .option("--time <time>", "time of turns and checks together")
    .option("--tokens <n>", "tokens in and out together");
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
