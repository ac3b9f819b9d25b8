/** Agents that do what they say. Each ends its loop as done, in the least number of turns. */
import { checkThat, FILES, type Files, NODE_FILES } from "./project.ts";

export interface Honest {
  readonly name: string;
  /** In `test/fixtures/honest`. */
  readonly program: string;
  readonly iterations: number;
  readonly checks?: readonly string[];
  readonly files?: Files;
  readonly flags?: readonly string[];
  /** Where it works: a repository, a folder of one, a repository on no branch, or no repository. */
  readonly place?: "folder" | "detached" | "no git";
  /** What a project has besides files. */
  readonly prepare?: (project: string) => void | Promise<void>;
  /** Of the end. */
  readonly notes?: RegExp;
}

const one = (name: string, program: string, more: Partial<Honest> = {}): Honest => ({
  name,
  program,
  iterations: 1,
  ...more,
});
const MEASURED: Files = { ...FILES, "src/lines.txt": "", "lines.sh": "wc -l <src/lines.txt\n" };
const STEPS = "- write add in src/add.sh\n- use it in src/sum.sh\n- say what it does\n";

export const HONEST: readonly Honest[] = [
  one("fixes it in one turn, in a folder with spaces and quotes in its name", "fixes.sh"),
  one("fixes it in three turns", "three-turns.sh", { iterations: 3 }),
  one("reports with CRITERIA", "names-criteria.sh"),
  one("writes prose after its block", "prose-after.sh"),
  one("ends its lines as Windows does", "carriage-returns.sh"),
  one("adds source files", "new-files.sh"),
  one("commits its work", "commits.sh"),
  one("works on a branch", "branch.sh"),
  one("edits a test that it may change", "edits-test.sh", { flags: ["--allow-changes", "test/**"] }),
  one("adds a test that it may add", "adds-test.sh", { flags: ["--allow-changes", "test/more.test.sh"] }),
  one("raises a measurement to its target", "measures.sh", {
    iterations: 3,
    files: MEASURED,
    checks: ["lines=sh lines.sh >= 3"],
  }),
  one("has several checks to meet", "fixes.sh", {
    checks: ["tests=sh check.sh", "plus=grep -q + src/sum.sh", "size=wc -c <src/sum.sh <= 100"],
    notes: /^green before any work: size$/,
  }),
  one("has a check that writes what git ignores", "fixes.sh", {
    files: checkThat("mkdir -p build && date >build/log.txt"),
  }),
  one("has a check that writes the same file each time", "fixes.sh", {
    files: checkThat("cat src/*.sh >all.txt"),
  }),
  one("has a check that writes among the tests each time", "fixes.sh", {
    files: checkThat("cp test/expected.txt test/copy.txt"),
  }),
  one("works without git", "fixes.sh", { place: "no git" }),
  one("works on no branch", "fixes.sh", { place: "detached" }),
  one("works in a folder of a repository", "fixes.sh", { place: "folder" }),
  one("takes the steps that a person wrote", "steps.sh", {
    ...{ iterations: 3, files: { ...FILES, "steps.md": STEPS }, flags: ["--steps", "steps.md"] },
  }),
  one("never reports where proof is enough", "without-block.sh", { flags: ["--exit-on", "proof"] }),
  one("never reports: one more turn, and a note", "without-block.sh", {
    iterations: 2,
    notes: /never signalled/,
  }),
  one("says the sentinel with its nonce", "promises.sh"),
  one("is slow", "slow.sh"),
  one("puts a test back once it is told", "restores.sh", { iterations: 2 }),
  one("shows a block and then says its own", "shows-first.sh"),
  one("fails once", "fails-once.sh", { iterations: 2 }),
  one("has the tests of Node", "node-fix.sh", { files: NODE_FILES, checks: ["tests=node --test test/"] }),
  one("has a runner of its own", "fixes.sh", {
    ...{
      files: { ...FILES, "bin/run-tests": FILES["check.sh"] ?? "" },
      checks: ["tests=sh bin/run-tests -q"],
    },
  }),
  one("leaves a process in its group", "leaves-child.sh"),
];
