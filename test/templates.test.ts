/** The templates for CI: whole, and safe against text that anybody may have written. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const folder = join(import.meta.dirname, "..", "templates");
const templates = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(join(folder, name), "utf8"),
}));

/** The lines that a shell gets to read: `run:` and `script:`, with what is indented below them. */
function shellLines(text: string): string[] {
  const found: string[] = [];
  let block = -1;
  for (const line of text.split("\n")) {
    const indent = line.length - line.trimStart().length;
    if (block >= 0 && line.trim() !== "" && indent <= block) block = -1;
    if (block >= 0) found.push(line.trim());
    const [, value] = /^\s*(?:- )?(?:run|script): ?(.*)$/.exec(line) ?? [];
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

  test.each(templates)("$name runs the loop headless, with limits, and keeps the artifacts", ({ text }) => {
    expect(shellLines(text).filter((line) => line.includes("loop until"))).toHaveLength(1);
    for (const word of ["LOOP_HEADLESS", "LOOP_BUDGET", "LOOP_MAX_ITERATIONS", "--prompt-file", ".loop/runs"])
      expect(text).toContain(word);
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
