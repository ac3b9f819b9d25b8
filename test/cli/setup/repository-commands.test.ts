/** H2: what the project's own files would run, and that none of it becomes a criterion before it is trusted. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commandsOf, trustedCriteria } from "../../../src/cli/setup/repository-commands.ts";
import { parseConfig, parseConfigText } from "../../../src/schema/config.ts";
import { createTrustStore } from "../../../src/store/folder/trust.ts";

const SHAPE = "## Criteria\n- tests pass: `npm test`\n\n## Must not\n- leaks: `grep KEY src`\n- rewrites\n";

function setUp() {
  const base = mkdtempSync(join(tmpdir(), "loop files "));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "project");
  mkdirSync(join(root, ".loop", "shape"), { recursive: true });
  const env = { HOME: join(base, "home") };
  mkdirSync(env.HOME);
  const project = { root, dir: join(root, ".loop") };
  const put = (name: string, text: string) => writeFileSync(join(project.dir, name), text);
  const trustAll = () => {
    for (const file of commandsOf(project))
      createTrustStore(env).trust({ path: file.path, content: file.content }, 1);
  };
  return { base, project, env, put, trustAll };
}

test("H2 B5 no file, no command; criteria come from both files once they are trusted", () => {
  const { project, env, put, trustAll } = setUp();
  expect([commandsOf(project), trustedCriteria(project, env)]).toEqual([[], { criteria: [], mustNot: [] }]);
  put("shape/SHAPE.md", SHAPE);
  put(
    "config.json",
    '{"checks":["coverage=npm run -s cov >= 80","ui=judge: is it blue?","quota=assume: enough"]}',
  );
  expect(commandsOf(project).map(({ file, commands }) => [file, commands])).toEqual([
    [
      ".loop/shape/SHAPE.md",
      [
        { name: "tests pass", command: "npm test" },
        { name: "must not: leaks", command: "grep KEY src" },
      ],
    ],
    [
      ".loop/config.json",
      [
        { name: "coverage >= 80", command: "npm run -s cov" },
        { name: "ui", command: "judge: is it blue?" },
      ],
    ],
  ]);
  expect(() => trustedCriteria(project, env)).toThrow(
    /^\.loop\/shape\/SHAPE\.md and \.loop\/config\.json contain commands/,
  );
  trustAll();
  const { criteria, mustNot } = trustedCriteria(project, env);
  expect(criteria.map(({ name, source }) => [name, source])).toEqual([
    ["tests pass", "shape"],
    ["coverage", "config"],
    ["ui", "config"],
    ["quota", "config"],
  ]);
  expect(mustNot.map(({ name, command }) => [name, command])).toEqual([
    ["leaks", "grep KEY src"],
    ["rewrites", null],
  ]);
});

test("H2 any change of the file takes its trust away, and only its own", () => {
  const { project, env, put, trustAll } = setUp();
  put("shape/SHAPE.md", SHAPE);
  put("config.json", '{"checks":["a=true"]}');
  trustAll();
  put("config.json", '{"checks":["a=true"] }');
  expect(() => trustedCriteria(project, env)).toThrow(/^\.loop\/config\.json contains commands/);
  put("config.json", "{}");
  expect(trustedCriteria(project, env).criteria).toHaveLength(1);
});

test("H4 a link may lead to a file of the project, and nowhere else", () => {
  const { base, project, env, put, trustAll } = setUp();
  const link = join(project.dir, "shape", "SHAPE.md");
  writeFileSync(join(project.root, "SHAPE.md"), SHAPE);
  symlinkSync("../../SHAPE.md", link);
  trustAll();
  expect(trustedCriteria(project, env).criteria).toHaveLength(1);
  rmSync(link);
  writeFileSync(join(base, "SHAPE.md"), SHAPE);
  for (const target of [join(base, "SHAPE.md"), "/dev/zero", "nowhere"]) {
    symlinkSync(target, link);
    expect(() => commandsOf(project), target).toThrow(
      /SHAPE\.md is a link to a place outside the project\.$/,
    );
    rmSync(link);
  }
  mkdirSync(link);
  expect(() => commandsOf(project)).toThrow(/is not a file\.$/);
  rmSync(link, { recursive: true });
  put("real.json", "{}");
  symlinkSync("real.json", join(project.dir, "config.json"));
  expect(() => commandsOf(project)).toThrow(/symbolic link/);
});

test.each([
  ["shape/SHAPE.md", "nothing\n", /SHAPE\.md: .*criteria/],
  ["config.json", "{", /config\.json: not JSON: /],
  ["config.json", '{"checks":["no command"]}', /config\.json: checks\.0: .*no "="[^.]*\.$/],
])("H5 a wrong %s (%j) is one sentence with its place", (name, text, sentence) => {
  const { project, env, put } = setUp();
  put(name, text);
  expect(() => commandsOf(project)).toThrow(sentence);
  expect(() => trustedCriteria(project, env)).toThrow(sentence);
});

test("H5 checks in config.json are texts in the form of --check", () => {
  for (const checks of [
    "a=true",
    [1],
    ["=true"],
    ["a="],
    Array.from({ length: 101 }, (_, n) => `n${n}=true`),
  ])
    expect(parseConfig({ checks }), JSON.stringify(checks)).toMatchObject({ kind: "invalid" });
  expect(parseConfigText('{"checks":["a=true"]}')).toMatchObject({
    kind: "ok",
    config: { checks: ["a=true"] },
  });
  expect(parseConfigText("{}")).not.toHaveProperty("config.checks");
});
