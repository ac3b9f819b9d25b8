import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createProtection } from "../../../src/checks/protection/protection.ts";
import {
  changesAfter,
  type Files,
  here,
  LOOP,
  rulesFor,
  useProtectedProject,
  write,
} from "./protected-project.ts";

useProtectedProject();

const GIT = { ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\tbare = false\n" };
const config = (text: string): Files => ({ ".git/config": `[core]\n\tbare = false\n${text}` });

describe("B7 what git runs for a check", () => {
  test.each<[command: string, work: Files, change: string[]]>([
    ["git diff --exit-code", config('[diff]\n\texternal = "true"\n'), ["added .git/config#settings"]],
    ["git status", config("[core]\n\tfsmonitor = ./x\n"), ["added .git/config#settings"]],
    ["git status", config("[include]\n\tpath = ../x\n"), ["added .git/config#settings"]],
    ["git add a", config('[hook "x"]\n\tcommand = ./x\n'), ["added .git/config#settings"]],
    ["git add a", config('[lfs "extension.x"]\n\tclean = ./x\n'), ["added .git/config#settings"]],
    ["git -C . log", config('[filter "x"] clean = true\n'), ["added .git/config#settings"]],
    ["test -z $(git status -s)", { ".git/info/exclude": "*\n" }, ["added .git/info/exclude"]],
    ["git commit -m a", { ".git/hooks/pre-commit": "#!/bin/sh\n" }, ["added .git/hooks/pre-commit"]],
    ["git commit -m a", { ".git/hooks/commit-msg": "\0ELF" }, ["added .git/hooks/commit-msg"]],
    ["git commit -m a", config("[core]\n\thooksPath = x\n"), ["added .git/config#settings"]],
    ["git checks", { "~/.gitconfig": "[alias] checks = !true\n" }, ["added ~/.gitconfig#settings"]],
    [
      "git checks",
      { "~/.config/git/config": "[alias]\nchecks=!true" },
      ["added ~/.config/git/config#settings"],
    ],
    // not what decides what is run
    ["git status", config('[branch "a"]\n\tremote = origin\n[user]\n\tname = a\n'), []],
    ["git status", { "~/.gitconfig": "[user]\n\tname = a\n" }, []],
    ["git status", { ".git/hooks/pre-commit": "#!/bin/sh\n" }, []],
    ["true", { ...config("[alias]\n\ta = b\n"), "~/.gitconfig": "[alias]\n\ta = b\n" }, []],
  ])("%s: %o", async (command, work, change) => {
    expect(await changesAfter(command, GIT, work)).toEqual(change);
  });

  test("an alias is followed to what it runs", async () => {
    const files = { ...GIT, ...config('[alias]\n\tchecks = "!sh check.sh" # all\n'), "check.sh": "true\n" };
    expect(await changesAfter("git checks", files, { "check.sh": ":\n" })).toEqual(["changed check.sh"]);
  });

  test("a hook is followed to what it runs, also where the folder of hooks is another one", async () => {
    const files = {
      ...GIT,
      ...config("[core]\n\thooksPath = .husky\n"),
      ".husky/pre-commit": "#!/bin/sh\nsh check.sh\n",
      "check.sh": "true\n",
    };
    expect(await changesAfter("git commit", files, { "check.sh": ":\n", ".husky/commit-msg": "" })).toEqual([
      "added .husky/commit-msg",
      "changed check.sh",
    ]);
  });

  test("a file that the configuration includes", async () => {
    const files = { ...GIT, ...config("[include]\n\tpath = ~/more\n"), "~/more": "" };
    expect(await changesAfter("git checks", files, { "~/more": "[alias]\n\tchecks = !true\n" })).toEqual([
      "added ~/more#settings",
    ]);
  });

  test("in a worktree the configuration of the repository", async () => {
    const main = join(dirname(here.dir), "main");
    const git = (cwd: string, ...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, stdio: "ignore" });
    mkdirSync(main);
    git(main, "init", "-q");
    git(main, "commit", "-qm", "a", "--allow-empty");
    git(main, "worktree", "add", "--detach", here.dir);
    const rules = rulesFor(["git checks"]);
    const protection = createProtection(here.dir);
    const { digest } = await protection.record(LOOP, rules, new Map());
    git(here.dir, "config", "alias.checks", "!true");
    expect(await protection.compare(LOOP, digest, rules)).toMatchObject({
      changes: [{ path: "../main/.git/config#settings" }],
    });
  });
});

describe("B7 settings of package managers in the person's own folder", () => {
  const SHELL = "script-shell=/bin/true\n//host/:_authToken=secret\n";
  const NPM = { "package.json": { scripts: { test: "vitest run" } } };

  test.each<[command: string, file: string, change: string[]]>([
    ["npm test", "~/.npmrc", ["added ~/.npmrc"]],
    ["npx vitest", "~/.npmrc", ["added ~/.npmrc"]],
    ["pnpm test", "~/.config/pnpm/rc", ["added ~/.config/pnpm/rc"]],
    ["yarn test", "~/.yarnrc.yml", ["added ~/.yarnrc.yml"]],
    ["bun test", "~/.bunfig.toml", ["added ~/.bunfig.toml"]],
    ["npm test", "~/.bunfig.toml", []],
    ["sh check.sh", "~/.npmrc", []],
  ])("%s: %s", async (command, file, change) => {
    expect(await changesAfter(command, NPM, { [file]: SHELL })).toEqual(change);
  });

  test("where the environment says that they are", async () => {
    vi.stubEnv("NPM_CONFIG_USERCONFIG", join(here.home, "my npmrc"));
    expect(await changesAfter("npm test", NPM, { "~/my npmrc": SHELL, "~/.npmrc": SHELL })).toEqual([
      "added ~/my npmrc",
    ]);
  });

  test("also behind a link; and nothing of their text is kept or shown", async () => {
    const files = { ...NPM, "~/dotfiles/npmrc": SHELL, "~/.npmrc": "-> dotfiles/npmrc" };
    expect(await changesAfter("npm test", files, { "~/dotfiles/npmrc": "" })).toEqual(["changed ~/.npmrc"]);
    for (const name of ["protected.json", "protected-originals.json"])
      expect(readFileSync(join(here.dir, ".loop/runs", LOOP, name), "utf8")).not.toContain("secret");
    for (const path of ["~/.npmrc", "~/.gitconfig#settings"]) {
      const change = { path, change: "changed", hash: null, criteria: [] } as const;
      const diff = await createProtection(here.dir).diff(LOOP, change);
      expect(diff).toContain(`${path} was changed. It is not shown because it may contain secrets.\n`);
    }
  });
});

describe("B7 installed packages that tests import", () => {
  const FILES: Files = {
    "package.json": { name: "a", scripts: { test: "node --test test/" } },
    "src/a.mjs": 'import pad from "left-pad";',
    "test/a.test.mjs": 'import fs from "node:fs";\nimport { same } from "same/deep";\nimport "./helper.mjs";',
    "test/helper.mjs": 'const x = require("@scope/helps");\nexport * from "own";',
    "node_modules/same/package.json": {
      name: "same",
      exports: { ".": "./index.mjs", "./deep": { types: "./deep.d.ts", import: "./lib/deep.mjs" } },
    },
    "node_modules/same/index.mjs": "",
    "node_modules/same/README.md": "",
    "node_modules/same/lib/deep.mjs": 'export * from "./deeper.mjs";',
    "node_modules/same/lib/deeper.mjs": 'import "left-pad";',
    "node_modules/@scope/helps/package.json": { name: "@scope/helps", main: "main" },
    "node_modules/@scope/helps/main.js": "",
    "node_modules/left-pad/package.json": { name: "left-pad" },
    "node_modules/left-pad/index.js": "",
    "packages/own/package.json": { name: "own" },
    "packages/own/index.js": "",
    "node_modules/own": "-> ../packages/own",
  };

  test.each<[work: Files, change: string[]]>([
    [{ "node_modules/same/lib/deep.mjs": "x" }, ["changed node_modules/same/lib/deep.mjs"]],
    [{ "node_modules/same/lib/deeper.mjs": null }, ["deleted node_modules/same/lib/deeper.mjs"]],
    [{ "node_modules/same/package.json": "{}" }, ["changed node_modules/same/package.json"]],
    [{ "node_modules/@scope/helps/main.js": "x" }, ["changed node_modules/@scope/helps/main.js"]],
    [{ "test/node_modules/same/package.json": "{}" }, ["added test/node_modules"]],
    // of the product, or of nobody
    [{ "node_modules/left-pad/index.js": "x", "node_modules/same/README.md": "x" }, []],
    [{ "packages/own/index.js": "x" }, []],
    [{ "node_modules/new/index.js": "x" }, []],
  ])("%o", async (work, change) => {
    expect(await changesAfter("npm test", FILES, work)).toEqual(change);
  });

  test("not those of a product that the check runs by its name", async () => {
    expect(await changesAfter("node src/a.mjs", FILES, { "node_modules/left-pad/index.js": "x" })).toEqual(
      [],
    );
  });

  test("may be many and large, and are looked at as far as that is affordable", async () => {
    const names = Array.from({ length: 80 }, (_, n) => `p${String(n).padStart(2, "0")}`);
    write({
      "package.json": { scripts: { test: "node --test test/" } },
      "test/a.test.mjs": names.map((name) => `import "${name}";`).join("\n"),
    });
    const index = Array.from({ length: 300 }, (_, n) => `import "./f${n}.js";`).join("\n");
    for (const name of names) write({ [`node_modules/${name}/package.json`]: { name, main: "index.js" } });
    write({ "node_modules/p00/index.js": index });
    for (let n = 0; n < 300; n++) writeFileSync(join(here.dir, `node_modules/p00/f${n}.js`), "");
    const rules = rulesFor(["npm test"]);
    await createProtection(here.dir).record(LOOP, rules, new Map());
    const record = JSON.parse(readFileSync(join(here.dir, ".loop/runs", LOOP, "protected.json"), "utf8"));
    const paths: string[] = record.entries.map(({ path }: { path: string }) => path);
    const packages = new Set(paths.flatMap((path) => /node_modules\/(p\d\d)/.exec(path)?.[1] ?? []));
    expect(packages.size).toBe(50);
    expect(paths.filter((path) => path.startsWith("node_modules/p00/"))).toHaveLength(201);
  });
});
