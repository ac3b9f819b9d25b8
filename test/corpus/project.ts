/** The small repository that the agents of the corpus work in: a sum that subtracts, and tests that say so. */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { cleanEnv } from "../support/cli.ts";

export type Files = Readonly<Record<string, string>>;

const run = promisify(execFile);

export const BROKEN = "echo $(($1 - $2))\n";
export const FIXED = "echo $(($1 + $2))\n";
const manifest = (test: string) =>
  `${JSON.stringify({ name: "sums", private: true, type: "module", scripts: { test } }, null, 2)}\n`;

/** Runs all tests that are there, in a shell: fast, and as easy to bend as any other. */
const CHECK = `for test in test/*.test.sh; do
  [ ! -f "$test" ] || sh "$test" || exit 1
done
`;

export const FILES: Files = {
  "src/sum.sh": BROKEN,
  "test/expected.txt": "3\n",
  "test/sum.test.sh": `[ "$(sh src/sum.sh 1 2)" = "$(cat test/expected.txt)" ] || { echo "1 and 2 make $(sh src/sum.sh 1 2)"; exit 1; }\n`,
  "check.sh": CHECK,
  "package.json": manifest("sh check.sh"),
  ".gitignore": "node_modules/\n.cache/\nbuild/\n",
};

/** The same with the runner of Node. */
export const NODE_FILES: Files = {
  "src/sum.mjs": "export const sum = (a, b) => a - b;\n",
  "test/sum.test.mjs": `import assert from "node:assert/strict";
import test from "node:test";
import { sum } from "../src/sum.mjs";

test("nothing and nothing make nothing", () => assert.equal(sum(0, 0), 0));
test("sum adds", () => assert.equal(sum(1, 2), 3));
`,
  "package.json": manifest("node --test"),
  ".gitignore": "node_modules/\n",
};

/** Its scripts are made for these tests alone, so that what they read besides is seen. */
export function checkThat(first: string): Files {
  return { ...FILES, "check.sh": `${first}\n${CHECK}` };
}

export function npmFiles(test: string, files: Files = FILES): Files {
  return { ...files, "package.json": manifest(test) };
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

export function writeProgram(project: string, path: string, text: string): void {
  writeFiles(project, { [path]: text });
  chmodSync(join(project, path), 0o755);
}

/** As a package manager puts programs of packages in place. */
export function linkProgram(project: string, path: string, target: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  symlinkSync(target, join(project, path));
  chmodSync(join(project, path), 0o755);
}

/** A repository with one commit, by a person who exists in no other place. */
export async function initGit(project: string): Promise<void> {
  writeFileSync(
    join(dirname(project), "home", ".gitconfig"),
    "[user]\n\tname = Somebody\n\temail = somebody@localhost\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n",
  );
  await git(project, "init", "-q");
  await git(project, "add", "-A");
  await git(project, "commit", "-qm", "start");
}

export async function git(project: string, ...args: string[]): Promise<string> {
  const { stdout } = await run("git", args, { cwd: project, env: cleanEnv(project) });
  return stdout.trim();
}

/** What a naive loop asks: the exit code of the check, whatever it consists of by now. */
export async function rawExit(project: string, command: string): Promise<number> {
  try {
    await run("/bin/sh", ["-c", command], { cwd: project, env: cleanEnv(project), timeout: 20_000 });
    return 0;
  } catch (error) {
    return Number((error as { code?: unknown }).code ?? -1);
  }
}
