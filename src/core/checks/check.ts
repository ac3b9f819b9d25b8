/** Criteria, checks and evidence, for goals and stories, as plain JSON data. `kinds.ts` says what each kind means. */

export type Comparison = ">=" | "<=" | ">" | "<" | "==" | "!=";

/** How the engine verifies a criterion. */
export type Check =
  /** The command exits 0. */
  | { readonly kind: "command"; readonly command: string }
  /** The last number that the command prints is compared with the target. */
  | {
      readonly kind: "measure";
      readonly command: string;
      readonly comparison: Comparison;
      readonly target: number;
    }
  /** An agent with its own context looks at the running product. Weaker. */
  | { readonly kind: "judge"; readonly question: string }
  /** An agent with its own context reads the code. Weaker. */
  | { readonly kind: "review"; readonly question: string }
  /** No check proves the criterion, so it blocks the end. */
  | { readonly kind: "assumption" };

export type CheckKind = Check["kind"];

export type CheckOf<K extends CheckKind> = Extract<Check, { readonly kind: K }>;

export type Verification = "execution output" | "measurement" | "observation" | "code review" | "assumption";

/** Where the criterion comes from. Commands from a file of the repository run only after a person trusts the file. */
export type CriterionSource = "flag" | "phrase" | "shape" | "config" | "plan";

export interface Criterion {
  readonly name: string;
  readonly check: Check;
  readonly source: CriterionSource;
}

/** A condition that must never become true. Exit 0 of the command means that it is true. */
export interface MustNot {
  readonly name: string;
  /** null: only the prompt mentions the condition; nothing checks it. */
  readonly command: string | null;
  readonly source: CriterionSource;
}

export interface Evidence {
  readonly met: boolean;
  readonly verification: Verification;
  readonly exitCode: number | null;
  /** The number of a measurement. */
  readonly value: number | null;
  readonly timedOut: boolean;
  /** The last part of the output, or the judge's words. */
  readonly tail: string;
  readonly at: number;
  readonly durationMs: number;
  /** Fingerprint of the checked files. */
  readonly tree: string;
  /** How many tests ran, if the output says so. */
  readonly tests?: number;
  /** Why green evidence does not count, or other information. */
  readonly note: string | null;
}

/** Evidence by the name of its criterion. */
export type EvidenceByName = Readonly<Record<string, Evidence>>;

/** The result of one round of checks on one state of the files, for a goal or a story. */
export interface RoundEvidence {
  readonly tree: string;
  readonly evidence: EvidenceByName;
  /** Files that changed each time while the checks ran, so that the evidence does not fit the tree. */
  readonly unstable: readonly string[];
  readonly durationMs: number;
}

export type Verdict = "SHIP" | "MONITOR" | "RESEARCH";
