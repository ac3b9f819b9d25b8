import type { Found } from "./found.ts";

/** A running trace, as the files for one kind of program see it. */
export interface Trace {
  readonly root: string;
  readonly found: Found;
  /** Every package.json of the project. */
  readonly manifests: () => readonly string[];
  /** Manifests whose settings count. */
  readonly usedManifests: Set<string>;
  /** Traces a shell line. */
  line(text: string, cwd: string): void;
  /** Traces a program with its arguments. */
  call(program: string, args: readonly string[], cwd: string): void;
  /** Traces a program as a test runner, by its name and arguments. */
  runner(program: string, name: string, args: readonly string[], cwd: string): void;
  script(word: string, cwd: string, isShell: boolean): void;
  /** Adds words that name files of the check, not of the product. */
  parts(words: readonly string[], cwd: string): void;
}
