/**
 * One row of the table of kinds: how a kind of check is written, parsed, run, rendered and weighed. Commands and
 * questions from a file of the repository need a person's trust; a question also needs an agent.
 */
import type { Check, Evidence, Verdict, Verification } from "./check.ts";

export interface KindOfCheck<C = Check> {
  readonly verification: Verification;
  /** An agent gives its opinion and no command runs. Texts mention this. */
  readonly isWeaker: boolean;
  /** The best verdict for a goal with such a criterion. */
  readonly atMost: Verdict;
  /** Why such a criterion is never met and blocks the end; null: it can be met. */
  readonly blocks: string | null;
  readonly shape: ShapeForm<C>;

  /** Parses the text after `name=`. null: the text has another kind. A string says what is wrong. */
  parse(text: string): C | string | null;
  /** What the engine must do, as data. */
  run(check: C): CheckRun;
  /** For a terminal: "`npm test` exits 0". */
  describe(check: C): string;
  /** For a prompt, in Markdown. Text from outside is in code spans that it cannot close. */
  demand(check: C): string;
  /** The result in a few words. */
  renderFinding(check: C, evidence: Evidence): string;
}

/** How `.loop/shape/SHAPE.md` names the kind. */
interface ShapeForm<C> {
  readonly words: RegExp;
  /** The check of a criterion of this kind without a command; null: the kind needs a command. */
  ofText(text: string): C | null;
  /** The error when the command has another kind; null: no error. */
  readonly mismatch: string | null;
}

export type CheckRun = CommandRun | AgentRun | { readonly kind: "nothing" };

export interface CommandRun {
  readonly kind: "command";
  readonly command: string;
  /** The comparison besides exit 0, such as ">= 80"; null: none. */
  readonly wanted: string | null;
  read(output: CommandOutput): Reading;
}

/** The engine asks an agent with its own context. */
export interface AgentRun {
  readonly kind: "ask";
  /** The word before the question in `--check`, and the agent's LOOP_KIND variable. */
  readonly as: string;
  readonly question: string;
  readonly instructions: string;
}

export interface CommandOutput {
  /** null: ended by a signal. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** The last part of the output. */
  readonly tail: string;
}

export type Reading = Pick<Evidence, "met" | "value" | "note">;
