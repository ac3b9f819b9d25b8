/** The templates for CI: whole, and safe against text that anybody may have written. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const folder = join(import.meta.dirname, "..", "templates");
const templates = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(join(folder, name), "utf8"),
}));

const { version } = JSON.parse(readFileSync(join(folder, "..", "package.json"), "utf8")) as {
  version: string;
};

function template(wanted: string): { readonly text: string } {
  return { text: templates.find(({ name }) => name === wanted)?.text ?? "" };
}

/** All text after each of these words. */
function after(text: string, word: string): string {
  return text.split(word).slice(1).join("");
}

/** The lines that a shell gets to read: `run:` and `script:`, with what is indented below them. */
function shellLines(text: string): string[] {
  const found: string[] = [];
  let block = -1;
  for (const line of text.split("\n")) {
    const indent = line.length - line.trimStart().length;
    if (block >= 0 && line.trim() !== "" && indent <= block) block = -1;
    if (block >= 0) found.push(line.trim().replace(/^- /, ""));
    const [, value] = /^\s*(?:- )?(?:run|(?:after_)?script): ?(.*)$/.exec(line) ?? [];
    if (value === undefined) continue;
    if (value === "" || value.startsWith("|")) block = indent;
    else found.push(value);
  }
  return found.filter((line) => line !== "");
}

describe("B17 templates for CI", () => {
  test("there is one for GitHub and one for GitLab", () => {
    expect(templates.map(({ name }) => name).sort()).toEqual(["github-actions.yml", "gitlab-ci.yml"]);
  });

  test.each(templates)("$name runs the loop headless, with limits, and keeps the report", ({ text }) => {
    expect(shellLines(text).filter((line) => line.includes("loop until"))).toHaveLength(1);
    for (const word of ["LOOP_HEADLESS", "LOOP_BUDGET", "LOOP_MAX_ITERATIONS", "--prompt-file", "report.md"])
      expect(text).toContain(word);
  });

  test.each(templates)("J7 $name shows and keeps no raw output", ({ text }) => {
    const lines = shellLines(text);
    // what the loop says goes into a file that is no artifact
    expect(lines.filter((line) => line.startsWith("loop until"))).toEqual([
      expect.stringMatching(/ --json > "\$(?:RUNNER_TEMP|CI_BUILDS_DIR)\/loop\.jsonl"$/),
    ]);
    expect(lines.filter((line) => line.startsWith("loop report"))).toEqual([
      expect.stringContaining("loop report --no-output > "),
    ]);
    for (const kept of ["paths:\n", "path: "]) expect(after(text, kept)).not.toMatch(/jsonl|\.loop/);
    expect(text).not.toMatch(/--no-mask|LOOP_NO_MASK|\btee\b|set -x/);
  });

  test.each(templates)("J7 $name installs this version, and no floating one", ({ text }) => {
    const [install = ""] = shellLines(text).filter((line) => line.startsWith("npm install"));
    expect(install.split(" ").slice(3)).toEqual([
      expect.stringMatching(/^@anthropic-ai\/claude-code@\d/),
      `loopwright@${version}`,
    ]);
  });

  test("J7 on GitHub the agent's job can only read, and no token stays in the checkout", () => {
    const { text } = template("github-actions.yml");
    expect(text).toContain("\npermissions: {}\n");
    const jobs = text
      .slice(text.indexOf("\njobs:\n"))
      .split(/\n {2}(?=[\w-]+:\n)/)
      .slice(1);
    const permissions = jobs.map((job) =>
      /\n {4}permissions:\n((?: {6}.*\n)+)/.exec(job)?.[1]?.trim().split(/\n\s*/),
    );
    expect(permissions).toEqual([["contents: read"], ["contents: write", "pull-requests: write"]]);
    const [agents = "", writes = ""] = jobs;
    expect(agents).toContain("loop until");
    expect(agents).not.toContain("github.token");
    // nothing of the work runs beside the token
    expect(writes).not.toMatch(/\bnpm\b|\bnode\b|\bloop (?:until|report)|secrets\./);
    const checkouts = text.split("uses: actions/checkout@").slice(1);
    expect(checkouts).toHaveLength(2);
    for (const checkout of checkouts)
      expect(checkout.split("- uses:")[0]).toContain("persist-credentials: false");
  });

  test("J7 on GitHub every action is pinned to a commit, and says its version", () => {
    const uses = template("github-actions.yml")
      .text.split("\n")
      .filter((line) => line.includes("uses:"));
    expect(uses.length).toBeGreaterThan(4);
    for (const line of uses) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("J7 on GitLab the agent gets no token of the job, and only members see the report", () => {
    const { text } = template("gitlab-ci.yml");
    const lines = shellLines(text);
    const loop = lines.findIndex((line) => line.includes("loop until"));
    const unset = lines.findIndex((line) =>
      /- unset .*\bCI_JOB_TOKEN\b.*\bCI_REPOSITORY_URL\b/.test(`- ${line}`),
    );
    const remote = lines.findIndex((line) => line.startsWith("git remote set-url origin"));
    expect([unset, remote].every((at) => at >= 0 && at < loop)).toBe(true);
    expect(text).toMatch(/image: node:\d+\.\d+\.\d+/);
    expect(text).toContain("access: developer");
  });

  test.each(templates)("$name never puts untrusted text into a shell line", ({ text }) => {
    const lines = shellLines(text);
    expect(lines.length).toBeGreaterThan(3);
    // an expression is replaced before the shell reads the line, so that its text becomes a part of the command
    expect(lines.filter((line) => line.includes("${{"))).toEqual([]);
    // a variable outside of quotes is split into words, and SPEC is anybody's
    expect(
      lines.filter((line) => /\$\{?(?:SPEC|TITLE|BODY)\b/.test(line.replaceAll(/"[^"]*"/g, ""))),
    ).toEqual([]);
    expect(lines.filter((line) => /\beval\b|\bsh -c\b/.test(line))).toEqual([]);
  });

  test("the guard itself sees an expression in a shell line", () => {
    const line = `echo "$${"{{"} github.event.issue.title }}"`;
    expect(line).toContain("${{");
    expect(shellLines(`steps:\n  - run: |\n      ${line}\n  - name: next\n`)).toEqual([line]);
  });
});
