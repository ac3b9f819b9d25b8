/**
 * What a criterion, its check and its evidence are, for every kind of loop. What each kind of check means is in the
 * table of kinds (`kinds.ts`). Plain data: it goes through the journal as JSON and comes back the same.
 */

export type Comparison = ">=" | "<=" | ">" | "<" | "==" | "!=";

/** How the engine finds out whether a criterion is true. */
export type Check =
  /** Exit 0. */
  | { readonly kind: "command"; readonly command: string }
  /** The last number that it prints, compared. */
  | {
      readonly kind: "measure";
      readonly command: string;
      readonly comparison: Comparison;
      readonly target: number;
    }
  /** An agent with a context of its own looks at the running thing. Weaker. */
  | { readonly kind: "judge"; readonly question: string }
  /** An agent with a context of its own reads the code. Weaker. */
  | { readonly kind: "review"; readonly question: string }
  /** Nothing finds out. Blocks the end. */
  | { readonly kind: "assumption" };

export type CheckKind = Check["kind"];

/** The check of one kind. */
export type CheckOf<K extends CheckKind> = Extract<Check, { readonly kind: K }>;

/** The words for how a criterion is verified. */
export type Verification = "execution output" | "measurement" | "observation" | "code review" | "assumption";

/** Who named the criterion. Commands from a file of the repository run only after a person trusted the file. */
export type CriterionSource = "flag" | "phrase" | "shape" | "config" | "plan";

export interface Criterion {
  readonly name: string;
  readonly check: Check;
  readonly source: CriterionSource;
}

/** Something that must never become true. Exit 0 of the command means that it has. */
export interface MustNot {
  readonly name: string;
  /** null: only said to the agent; nothing can watch it. */
  readonly command: string | null;
  readonly source: CriterionSource;
}

/** What a check returned. */
export interface Evidence {
  readonly met: boolean;
  readonly verification: Verification;
  readonly exitCode: number | null;
  /** What a measurement printed. */
  readonly value: number | null;
  readonly timedOut: boolean;
  /** The last part of what was printed, or what a judge said. */
  readonly tail: string;
  readonly at: number;
  readonly durationMs: number;
  /** Fingerprint of the files that it was run on. */
  readonly tree: string;
  /** How many tests ran, where the output tells. */
  readonly tests?: number;
  /** Why it does not count although the check is green, or what to know about it. */
  readonly note: string | null;
}

/** Evidence by the name of its criterion. */
export type EvidenceByName = Readonly<Record<string, Evidence>>;

/** What one round of checks found, on one state of the files. The same for a goal and for a story. */
export interface RoundEvidence {
  readonly tree: string;
  readonly evidence: EvidenceByName;
  /** Files that the checks themselves changed each time: their evidence is never newer than the tree. */
  readonly unstable: readonly string[];
  readonly durationMs: number;
}

export type Verdict = "SHIP" | "MONITOR" | "RESEARCH";
