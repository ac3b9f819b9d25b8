import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AskedFor,
  type AskedPath,
  decidePermission,
  PERMISSION_ANSWERS,
  type PermissionRules,
  TOOL_KINDS,
  wrongRules,
} from "../../src/core/permissions.ts";
import { cpuMs } from "../support/cpu-time.ts";

const inside = (path: string): AskedPath => ({ absolute: `/home/me/project/${path}`, inProject: path });
const outside = (path: string): AskedPath => ({ absolute: path, inProject: null });
const asked = (asked: Partial<AskedFor>): AskedFor => ({
  tool: "other",
  title: "Something",
  paths: [],
  command: null,
  role: "generator",
  commands: ["npm test", "wc -l <log"],
  ...asked,
});
const edit = (...paths: AskedPath[]) => asked({ tool: "edit", paths });
const run = (command: string, role: string | null = "generator") => asked({ tool: "execute", command, role });

describe("E3 what is allowed where no rule says anything", () => {
  test.each([
    ["a read", asked({ tool: "read", paths: [outside("/etc/passwd")] }), "allow"],
    ["a read of a judge", asked({ tool: "read", role: "judge" }), "allow"],
    ["an edit in the project", edit(inside("src/a.ts")), "allow"],
    ["a deletion in the project", asked({ tool: "delete", paths: [inside("a")] }), "allow"],
    ["an edit outside", edit(outside("/etc/passwd")), "deny"],
    ["an edit inside and outside", edit(inside("a"), outside("/tmp/a")), "deny"],
    ["an edit of what the engine keeps", edit(inside(".loop/state.json")), "deny"],
    ["of that folder itself", edit(inside(".loop")), "deny"],
    ["an edit of what git keeps", edit(inside(".git/hooks/pre-commit")), "deny"],
    ["also of a repository further down", edit(inside("vendor/lib/.git/config")), "deny"],
    ["also in another case", edit(inside(".GIT/config")), "deny"],
    ["a file that is only called alike", edit(inside(".gitignore")), "allow"],
    ["an edit that does not say of what", edit(), "deny"],
    ["an edit in a turn of a task", asked({ tool: "edit", paths: [inside("a")], role: null }), "ask"],
    ["an edit of a judge", asked({ tool: "edit", paths: [inside("a")], role: "judge" }), "deny"],
    ["a command of the checks", run(" npm test "), "allow"],
    ["another command", run("npm test; rm -rf /"), "ask"],
    ["a command that is not told", asked({ tool: "execute", command: null }), "ask"],
    ["a command of the checks, of a judge", run("npm test", "evaluator"), "deny"],
    ["a command in a turn of a task", run("ls", null), "ask"],
    ["the network", asked({ tool: "fetch", title: "https://example.org" }), "ask"],
    ["the network, of a judge", asked({ tool: "fetch", role: "judge" }), "deny"],
    ["anything else", asked({}), "ask"],
  ] as const)("%s: %s → %s", (_, request, answer) => {
    expect(decidePermission({}, request)).toBe(answer);
  });
});

describe("E3 what rules say", () => {
  const rows: readonly (readonly [string, PermissionRules, AskedFor, string])[] = [
    ["one answer for a kind", { execute: "allow" }, run("rm -rf x"), "allow"],
    ["a glob of a command", { execute: { "npm run *": "allow" } }, run("npm run build"), "allow"],
    ["no glob fits: the default", { execute: { "npm run *": "allow" } }, run("npm publish"), "ask"],
    [
      "the last glob that fits counts",
      { execute: { "npm *": "allow", "npm publish*": "deny" } },
      run("npm publish --tag x"),
      "deny",
    ],
    [
      "in the order in which they are written",
      { execute: { "npm publish*": "deny", "npm *": "allow" } },
      run("npm publish"),
      "allow",
    ],
    ["a lone star is everything", { execute: { "*": "deny" } }, run("npm test"), "deny"],
    ["a judge, if they say so", { execute: { "npm test": "allow" } }, run("npm test", "judge"), "allow"],
    ["a path", { edit: { "docs/**": "deny" } }, edit(inside("docs/a/b.md")), "deny"],
    ["a name at any depth", { edit: { "*.lock": "deny" } }, edit(inside("a/b/yarn.lock")), "deny"],
    [
      "the strictest of several paths",
      { edit: { "docs/**": "ask", "docs/x": "deny" } },
      edit(inside("docs/a"), inside("docs/x")),
      "deny",
    ],
    [
      "allowing all edits means those in the project",
      { edit: "allow" },
      edit(outside("/etc/passwd")),
      "deny",
    ],
    [
      "outside is opened by a glob of its own",
      { edit: { "/tmp/**": "allow" } },
      edit(outside("/tmp/a/b")),
      "allow",
    ],
    ["and only that", { edit: { "/tmp/**": "allow" } }, edit(outside("/var/a")), "deny"],
    [
      "a glob from the project's folder means nothing outside",
      { edit: { "**": "allow" } },
      edit(outside("/var/a")),
      "deny",
    ],
    [
      "what the engine keeps is opened by nothing",
      { edit: { ".loop/**": "allow", "/**": "allow" } },
      edit(inside(".loop/x")),
      "deny",
    ],
    ["nor what git keeps", { delete: "allow" }, asked({ tool: "delete", paths: [inside(".git")] }), "deny"],
    ["not even outside", { edit: { "/**": "allow" } }, edit(outside("/other/.git/config")), "deny"],
    [
      "an address",
      { fetch: { "https://example.org/*": "allow" } },
      asked({ tool: "fetch", title: "https://example.org/a?b=1&c" }),
      "allow",
    ],
    [
      "reading can be denied too",
      { read: { "/home/me/.ssh/**": "deny" } },
      asked({ tool: "read", paths: [outside("/home/me/.ssh/id")] }),
      "deny",
    ],
  ];
  test.each(rows)("%s", (_, rules, request, answer) => {
    expect(decidePermission(rules, request)).toBe(answer);
  });

  test("a star in a command stands for nothing that makes a second command of it", () => {
    const rules: PermissionRules = { execute: { "npm run *": "allow" } };
    const separator = fc.constantFrom(";", "&&", "||", "|", "&", "\n", "$(", "`", ">", "<", "\r\n", "<(");
    fc.assert(
      fc.property(separator, fc.string(), fc.string(), (middle, before, after) => {
        expect(decidePermission(rules, run(`npm run ${before}${middle}${after}x`))).not.toBe("allow");
      }),
    );
  });

  test("a path outside, or of .loop or .git, is never written without a glob that begins with /", () => {
    const answer = fc.constantFrom(...PERMISSION_ANSWERS);
    const glob = fc.string({ minLength: 1 }).filter((text) => !text.startsWith("/"));
    const rule = fc.oneof(answer, fc.dictionary(glob, answer));
    const path = fc.constantFrom(outside("/etc/x"), inside(".loop/x"), inside(".git/x"), inside("a/.git/x"));
    const tool = fc.constantFrom("edit" as const, "delete" as const);
    fc.assert(
      fc.property(rule, path, tool, (rule, path, tool) => {
        expect(decidePermission({ [tool]: rule }, asked({ tool, paths: [path] }))).not.toBe("allow");
      }),
    );
  });

  test("a pathological glob takes no time", () => {
    const rules: PermissionRules = { execute: { [`${"a*".repeat(20)}b`]: "allow" } };
    expect(cpuMs(() => void decidePermission(rules, run("a".repeat(4_000))))).toBeLessThan(1_000);
  });
});

describe("E3 rules that somebody wrote", () => {
  test.each([
    [{ execute: "allow", edit: { "a*": "ask" } }, null],
    [{}, null],
    [[], "must be an object with a key for each kind of tool"],
    [null, "must be an object with a key for each kind of tool"],
    [{ write: "allow" }, `there is no kind of tool "write"; known: ${TOOL_KINDS.join(", ")}`],
    [{ edit: "yes" }, "edit must be one of allow, deny, ask"],
    [{ edit: { "a*": true } }, 'edit "a*" must be one of allow, deny, ask'],
  ])("%j", (rules, wrong) => {
    expect(wrongRules(rules)).toBe(wrong);
  });
});
