/**
 * The rows of the table of tools. Phrases, project detection, protection and backprop read them, so a new test runner
 * is one row in the file of its ecosystem.
 */

/** The role of a file: tests of a language, or configuration. */
export type FileRole = `tests:${string}` | `config:${string}`;

/** A pattern for the name of a file without its folders. */
export type FileRule = readonly [FileRole, RegExp];

export interface Tool {
  /** The name in messages. */
  readonly name: string;
  /** Programs that start it: `vitest`, or with the next word, `go test`. */
  readonly programs: readonly string[];
  /** The files that a check with this tool depends on; missing: other code handles it (package managers, make). */
  readonly reads?: ToolReading;
  /** Files of this tool only. Shared files are in the ecosystem. */
  readonly files?: readonly FileRule[];
  /** Command lines that a person may type in a sentence, as regular expressions: "`go test` passes". */
  readonly phrases?: readonly string[];
  /** The project has its own copy, called through `npx`, `uv run` or `bundle exec`. */
  readonly through?: "node" | "python" | "ruby";
  /** The command lines that a sentence such as "tests pass" means in a project. */
  readonly commands?: readonly ProjectCommand[];
  readonly tests?: TestRunning;
  /** The lock files of a package manager of JavaScript. */
  readonly locks?: readonly string[];
}

export interface ToolReading {
  /** Its words are test files, files that it looks at, or another command. */
  readonly words: "tests" | "subjects" | "rest";
  readonly roles: readonly FileRole[];
}

export type Topic =
  | "test"
  | "unit"
  | "integration"
  | "e2e"
  | "lint"
  | "eslint"
  | "tsc"
  | "types"
  | "build"
  | "format";

export interface ProjectCommand {
  readonly topic: Topic;
  readonly command: string;
  /** Names that must all exist at the top of the project. The first matching row of a tool counts. */
  readonly signs: readonly RegExp[];
  /** Only proposed as a check of a backlog; no sentence means it. */
  readonly proposed?: Proposal;
}

/** Further conditions on the manifests of a project. */
export interface Proposal {
  /** By manifest; one of these patterns must match. */
  readonly says?: Readonly<Record<string, RegExp>>;
  /** A script of composer.json. */
  readonly script?: string;
  /** Not together with these tools. */
  readonly instead?: readonly string[];
}

export function propose(
  topic: Topic,
  command: string,
  signs: readonly RegExp[],
  proposed: Proposal = {},
): ProjectCommand {
  return { topic, command, signs, proposed };
}

export interface TestRunning {
  /** The words that mean a run of tests, without flags; missing: any words. */
  readonly when?: RegExp;
  /** With these words it may run tests; only its output tells. */
  readonly maybe?: RegExp;
  /** Flags and first words with which it runs no tests. */
  readonly idle?: readonly string[];
  /** It starts another runner: always, or depending on the name of a target or script. */
  readonly delegates?: "always" | "by name";
  /** Missing: it prints the output of the runner that it starts. */
  readonly output?: TestOutput;
  readonly report?: StructuredReport;
  readonly canary?: Canary;
}

/** Patterns of a printed run, all with the flags `gm`. */
export interface TestOutput {
  /** Lines that identify the runner. Their figures use common words: `3 failed`, `Errors: 1`. */
  readonly summary: RegExp;
  /** The summary is printed only when tests fail, so it cannot show missing tests. */
  readonly isRedOnly?: true;
  /** A failed test, with the groups `name`, `test` (the end of its name), `file` and `message`. First match counts. */
  readonly failures: readonly RegExp[];
  /** Lines above a failure with its `file` or `message`. */
  readonly around?: RegExp;
  /** Lines of a run that could not start its tests. */
  readonly broken?: RegExp;
  /** The summary counts each of these lines as a failed test. */
  readonly countsBroken?: true;
  /** A passed test, for runners whose summary does not count them. */
  readonly passes?: RegExp;
}

/** How to make the runner report each test by its name. */
export interface StructuredReport {
  /** `lines`: no structured reporter; `line` matches the output. */
  readonly format: "junit" | "json" | "test2json" | "lines";
  /** Words to add. `{file}` is the path of the report; without it, the report is printed. */
  readonly words: readonly string[];
  /** `start`: after the words that start the runner. `end`: at the end of the command. */
  readonly place: "start" | "end";
  /** One printed result, with the groups `name` and `result`. */
  readonly line?: RegExp;
}

/** A test that must fail. A runner that does not report the failure cannot be trusted. */
export interface Canary {
  /** Its path in the package. */
  readonly file: string;
  /** `{name}` stands for a name of letters, digits and underscores; `{package}` for the package of a folder in Go. */
  readonly text: string;
  /** How the runner names it. */
  readonly reported: string;
}

export interface Ecosystem {
  /** Earlier rows are tried first. */
  readonly tools: readonly Tool[];
  /** Files that several tools read. */
  readonly files: readonly FileRule[];
  /** The same, matched by the whole path. */
  readonly paths?: readonly FileRule[];
  /** Folders that the tools fill and people do not write in. */
  readonly folders?: readonly string[];
  /** Folders with common names, and the files beside them that prove their purpose. */
  readonly foldersBeside?: readonly (readonly [string, RegExp])[];
}
