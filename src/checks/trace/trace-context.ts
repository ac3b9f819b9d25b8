import type { Found } from "./found.ts";

/** A trace under way, as those who know one kind of program need it. */
export interface Trace {
  readonly root: string;
  readonly found: Found;
  /** All package.json of the project. */
  readonly manifests: () => readonly string[];
  /** Those whose settings count. */
  readonly usedManifests: Set<string>;
  /** A line for the shell. */
  line(text: string, cwd: string): void;
  /** A program with its words. */
  call(program: string, args: readonly string[], cwd: string): void;
  /** A program as a runner of which only the name and the words tell. */
  runner(program: string, name: string, args: readonly string[], cwd: string): void;
  script(word: string, cwd: string, isShell: boolean): void;
  /** Words that name files which look like a part of the check and not like what it looks at. */
  parts(words: readonly string[], cwd: string): void;
}
