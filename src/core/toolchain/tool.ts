/**
 * What a row of the table of tools says. Phrases, project detection, protection and backprop all read these rows, so
 * that a new test runner is one row in the file of its ecosystem.
 */

/** What a file is for: a tool asks for the tests of a language and for its configuration by these names. */
export type FileRole = `tests:${string}` | `config:${string}`;

/** The name of a file, without its folders → what it is for. */
export type FileRule = readonly [FileRole, RegExp];

export interface Tool {
  /** As messages call it. */
  readonly name: string;
  /** Programs that start it: `vitest`, or with the word behind it, as `go test`. */
  readonly programs: readonly string[];
  /** What a check that runs it consists of; missing: other code follows it, as package managers and make. */
  readonly reads?: ToolReading;
  /** Files that only this tool has. Those that tools share are in the ecosystem. */
  readonly files?: readonly FileRule[];
  /** Command lines that a person may type in a sentence, as regular expressions: "`go test` passes". */
  readonly phrases?: readonly string[];
  /** The project has its own copy, which is called through `npx`, `uv run`, `bundle exec` and the like. */
  readonly through?: "node" | "python" | "ruby";
  /** The command lines that a sentence without one means in a project: "tests pass". */
  readonly commands?: readonly ProjectCommand[];
  /** It runs tests. */
  readonly tests?: TestRunning;
  /** It is a package manager of JavaScript; a project with one of these locks uses it. */
  readonly locks?: readonly string[];
}

export interface ToolReading {
  /** `tests`: files among its words are tests. `subjects`: they are what it looks at. `rest`: they are a command. */
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
  /** Names at the top of the project that all have to be there. The first row of a tool that fits counts. */
  readonly signs: readonly RegExp[];
  /** It is only proposed as a check of a backlog: no sentence means it. */
  readonly proposed?: Proposal;
}

/** What the manifests of a project have to say besides. */
export interface Proposal {
  /** One of these has to be in its manifest. */
  readonly says?: readonly (readonly [manifest: string, RegExp])[];
  /** A script of composer.json. */
  readonly script?: string;
  /** Not beside these tools. */
  readonly instead?: readonly string[];
}

export interface TestRunning {
  /** The words behind the program that mean a run of tests, flags left out; missing: any do. */
  readonly when?: RegExp;
  /** With these it may run tests, and only its output tells. */
  readonly maybe?: RegExp;
  /** Flags and first words with which it runs no tests. */
  readonly idle?: readonly string[];
  /** It starts another runner: always, or when the name of a target or script says so. */
  readonly delegates?: "always" | "by name";
  /** How its run looks; missing: it prints what the runner that it starts prints. */
  readonly output?: TestOutput;
  readonly report?: StructuredReport;
  readonly canary?: Canary;
}

/** Patterns of a printed run, all with the flags `gm`. */
export interface TestOutput {
  /** Lines by which the run is recognised. The figures in them are read by common words: `3 failed`, `Errors: 1`. */
  readonly summary: RegExp;
  /** The summary is printed only when tests fail: it cannot tell that tests went missing. */
  readonly isRedOnly?: true;
  /**
   * A test that failed, by the groups `name`, `test` (the end of its name), `file` and `message`. The first pattern
   * that finds something counts.
   */
  readonly failures: readonly RegExp[];
  /** Lines above a failure that tell its `file` or its `message`. */
  readonly around?: RegExp;
  /** Lines of a run that could not start its tests. */
  readonly broken?: RegExp;
  /** Each of those lines is one of the tests that the summary counts as failed. */
  readonly countsBroken?: true;
  /** One test that passed, where no summary counts them. */
  readonly passes?: RegExp;
}

/** How the runner is asked to write down each test by its name. */
export interface StructuredReport {
  /** `lines`: it has no reporter for programs, and `line` reads what it prints. */
  readonly format: "junit" | "json" | "test2json" | "lines";
  /** Words to add; `{file}` is where the report is to be written. Without it, the report is printed. */
  readonly words: readonly string[];
  /** Where they go: behind the words that start the runner, or at the end of the command. */
  readonly place: "start" | "end";
  /** One printed result, by the groups `name` and `result`. */
  readonly line?: RegExp;
}

/** A test that must fail. A runner that does not report it as failed cannot be believed. */
export interface Canary {
  /** Where it goes, from the package on. */
  readonly file: string;
  /** `{name}` stands for a name of letters, digits and underscores; `{package}` for the package of a folder in Go. */
  readonly text: string;
  /** How the runner names it. */
  readonly reported: string;
}

export interface Ecosystem {
  /** In the order in which they are tried. */
  readonly tools: readonly Tool[];
  /** Files that several of the tools read. */
  readonly files: readonly FileRule[];
  /** The same by the whole path. */
  readonly paths?: readonly FileRule[];
  /** Folders that the tools fill and people do not write in. */
  readonly folders?: readonly string[];
  /** Folders with names that people use too, and the files beside them by which one can tell. */
  readonly foldersBeside?: readonly (readonly [string, RegExp])[];
}
