/**
 * The form of one row of the table of kinds: how a kind of check is written, parsed, run, rendered and weighed.
 * What a kind needs follows from how it is run: a command and a question to an agent need a person's trust when they
 * come from a file of the repository, and a question needs an agent.
 */
import type { Check, Evidence, Verdict, Verification } from "./check.ts";

export interface KindOfCheck<C = Check> {
  /** How a criterion of this kind is verified, as texts and files say it. */
  readonly verification: Verification;
  /** An agent gave its opinion, and no command was run. Texts say so beside it. */
  readonly isWeaker: boolean;
  /** The best verdict that a goal with such a criterion can end with. */
  readonly atMost: Verdict;
  /** Why a criterion of this kind is never met, so that it blocks the end; null: it can be met. */
  readonly blocks: string | null;
  readonly shape: ShapeForm<C>;

  /**
   * What stands after `name=` in `--check`, in the configuration, in a story's `checks` and in a plan. null: the text
   * is of another kind. A string says what is wrong with it, as half a sentence.
   */
  parse(text: string): C | string | null;
  /** What has to be done to find out, as data: the engine does it. */
  run(check: C): CheckRun;
  /** For a terminal: "`npm test` exits 0". */
  describe(check: C): string;
  /** For a prompt, in Markdown. What came from outside stands in code spans that it cannot leave. */
  demand(check: C): string;
  /** What was found, in a few words. */
  renderFinding(check: C, evidence: Evidence): string;
}

/** How `.loop/shape/SHAPE.md` names the kind. */
export interface ShapeForm<C> {
  /** The words in the file that name it. */
  readonly words: RegExp;
  /** The check of a criterion that the file names so and that has no command; null: such a criterion needs one. */
  ofText(text: string): C | null;
  /** What is wrong when the file names it so and its command is of another kind; null: nothing. */
  readonly mismatch: string | null;
}

export type CheckRun = CommandRun | AgentRun | { readonly kind: "nothing" };

/** The engine runs a command in the folder of the work. */
export interface CommandRun {
  readonly kind: "command";
  readonly command: string;
  /** What the output has to say beyond exit 0: ">= 80"; null: nothing. */
  readonly wanted: string | null;
  read(output: CommandOutput): Reading;
}

/** The engine asks an agent with a context of its own. */
export interface AgentRun {
  readonly kind: "ask";
  /** The word before the question in `--check`, and LOOP_KIND in the environment of the agent. */
  readonly as: string;
  readonly question: string;
  /** How the agent has to look. */
  readonly instructions: string;
}

export interface CommandOutput {
  /** null: ended by a signal. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The last part of what the command printed. */
  readonly tail: string;
}

/** What an output means. */
export type Reading = Pick<Evidence, "met" | "value" | "note">;
