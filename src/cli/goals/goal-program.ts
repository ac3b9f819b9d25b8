/** The commands for goal loops, with flags and help. */
import {
  type Add,
  agentOptions,
  collect,
  limitOptions,
  notifyOption,
  timeoutOption,
  yesOption,
} from "../flags/options.ts";
import { UNTIL_HELP } from "../help.ts";
import type { Act } from "../program-parts.ts";

export function addGoalCommands(add: Add, act: Act): void {
  addUntil(add, act);
  addScore(add, act);
  addRunCommands(add, act);
  addDecisionCommands(add, act);
}

function addUntil(add: Add, act: Act): void {
  const until = add("until [words...]", "run an agent turn after turn until the engine's own checks pass")
    .option(
      "--check <name=command>",
      "command that must exit 0, or print a number: 'cov=npm run cov >= 80' (repeatable)",
      collect,
    )
    .option("--protect <glob>", "files that the agent must not change (repeatable)", collect)
    .option("--allow-changes <glob>", "files of the checks that the agent may change (repeatable)", collect);
  limitOptions(agentOptions(until))
    .option(
      "--context <how>",
      "continue (default: one conversation for all turns) or fresh (a new one each turn)",
    )
    .option("--exit-on <what>", "both (default: the checks pass and the agent signals the end) or proof");
  yesOption(until, "do not ask at gates; the loop can end as done without the agent's signal")
    .option("--gate-timeout <time>", "after this time without an answer, use the default answer of a gate")
    .option("--gate-default <answer>", "default answer of a gate: approve or reject (default)")
    .option("--steps <file>", "read the steps from this file: one per line, or a Markdown list (- for stdin)")
    .option("--prompt-file <file>", "read the spec from this file, in addition to the words (- for stdin)")
    .option("--reversibility <type>", "how hard the work is to undo: 2A (easy), 2B or 1 (hard)");
  timeoutOption(until)
    .option("--check-timeout <time>", "stop a check that takes longer than this (default 10m)")
    .option("--score-with <who>", "who scores the spec: rubric (default) or agent")
    .option("--force", "start even if the spec scores below 5");
  notifyOption(until)
    .option("--detach", "create the loop and return; `loop continue` or `loop up` runs it")
    .option("--dry-run", "show the score and the checks; write and run nothing")
    .addHelpText("after", UNTIL_HELP)
    .action(act(async () => (await import("./until.ts")).untilCommand));
}

function addScore(add: Add, act: Act): void {
  const score = add("score [words...]", "score how clear a spec is (0 to 10), and show the words that count")
    .option("--check <name=command>", "count this check too (repeatable)", collect)
    .option("--protect <glob>", "count these protected files too (repeatable)", collect)
    .option("--prompt-file <file>", "read the spec from this file (- for stdin)")
    .option("--score-with <who>", "who scores the spec: rubric (default) or agent");
  agentOptions(score).action(act(async () => (await import("./score.ts")).scoreCommand));
}

function addRunCommands(add: Add, act: Act): void {
  add("status [goal]", "show the progress of a goal loop and what it waits for").action(
    act(async () => (await import("./goal.ts")).statusCommand),
  );

  const goOn = limitOptions(
    add("continue [goal]", "continue a goal loop; limits given here are added to its limits"),
  ).option("--now", "try again now, even if the loop waits for a quota or an outage");
  notifyOption(goOn)
    .option("--detach", "do not run the loop here; leave it to a runner")
    .action(act(async () => (await import("./goal.ts")).continueCommand));

  const cancel = add("cancel [goal]", "end a goal loop at once (asks whether to keep its state)")
    .option("--keep", "keep the state and the checkpoints of the loop")
    .option("--no-keep", "delete the state and the checkpoints of the loop");
  yesOption(cancel, "do not ask; keep the state").action(
    act(async () => (await import("./goal.ts")).cancelCommand),
  );
}

function addDecisionCommands(add: Add, act: Act): void {
  for (const answer of ["approve", "reject"] as const) {
    const word = answer === "approve" ? "yes" : "no";
    const about = `answer ${word} to the question of a goal loop: [goal] [note for the agent]`;
    add(`${answer} [words...]`, about).action(
      act(async () => (await import("./goal.ts")).answerCommand.bind(null, answer)),
    );
  }

  yesOption(
    add("accept [goal]", "review changes to files that the checks depend on, and accept them"),
  ).action(act(async () => (await import("./accept.ts")).acceptCommand));

  yesOption(
    add("rollback [words...]", "list the checkpoints of a goal loop, or restore one: [goal] [step]"),
  ).action(act(async () => (await import("./rollback.ts")).rollbackCommand));

  add("report [goal]", "print receipt and evidence of a goal loop as Markdown")
    .option("--no-output", "leave out the output of checks, such as for a public page")
    .action(act(async () => (await import("./goal.ts")).reportCommand));
}
