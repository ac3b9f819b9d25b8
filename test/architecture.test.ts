/** The direction of imports and the purity of `core`, on the real import graph. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Path from the repository's root → text. */
type Sources = ReadonlyMap<string, string>;

/**
 * Who may import what: for each part of `src` the parts, or folders of parts, that it may use besides itself. A part
 * that is not in this table fails the test: whoever adds a folder says here what it may know.
 */
const RULES: Readonly<Record<string, readonly string[]>> = {
  core: [],
  ports: ["core"],
  engine: ["core", "ports", "errors.ts"],
  observe: ["core", "ports", "errors.ts"],
  schema: ["core", "errors.ts"],
  system: ["core", "ports", "errors.ts"],
  store: ["core", "ports", "errors.ts", "schema", "system"],
  checks: ["core", "ports", "errors.ts", "schema", "system"],
  git: ["core", "ports", "errors.ts", "schema", "system"],
  agents: ["core", "ports", "errors.ts", "schema", "system"],
  tools: ["core", "ports", "engine", "errors.ts", "hosts/mcp", "system"],
  // the composition root puts adapters together, so it knows all of them
  compose: [
    ...["core", "ports", "engine", "observe", "errors.ts", "schema", "system"],
    ...["agents", "checks", "git", "store", "tools", "hosts/mcp"],
  ],
  // surfaces: everything through ports, the engine and the composition root; of adapters only these folders
  cli: [
    ...["core", "ports", "engine", "observe", "compose", "tools", "hosts", "errors.ts", "schema", "system"],
    ...[
      "version.ts",
      "store/files",
      "store/folder",
      "store/ledger",
      "store/signed",
      "store/journal/segment-path.ts",
      "store/journal/take-over.ts",
      "store/journal/checksum.ts",
    ],
    ...[
      "agents/capabilities",
      "agents/missing.ts",
      "agents/demo",
      "agents/acp",
      "agents/process",
      "agents/find",
      "agents/reasons",
    ],
    ...[
      "git/checkpoints",
      "git/worktrees",
      "git/diff.ts",
      "git/tracked.ts",
      "checks/project-facts.ts",
      "checks/files",
      "checks/protection",
    ],
    ...["checks/run-command.ts"],
  ],
  hosts: [
    ...["core", "ports", "engine", "observe", "compose", "tools", "errors.ts", "schema", "system"],
    ...["version.ts", "store/files", "store/folder", "store/ledger"],
    ...[
      "agents/capabilities",
      "agents/process",
      "agents/stream",
      "agents/prices.ts",
      "agents/find",
      "agents/missing.ts",
    ],
  ],
  "index.ts": [
    "core",
    "ports",
    "engine",
    "observe",
    "compose",
    "tools",
    "errors.ts",
    "schema",
    "store/folder",
  ],
  "testing.ts": ["store/memory"],
  "errors.ts": [],
  "version.ts": [],
};

/** Packages: `core` and the ports know one and none; everybody else may use what is bundled. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  core: ["cronstrue"],
  ports: [],
  engine: [],
  observe: [],
};
const ADAPTERS = ["store", "checks", "git", "agents"];
const SURFACES = ["cli", "hosts", "index.ts", "testing.ts"];
const ROOTS = ["compose", "index.ts"];

const IMPURE: readonly [string, RegExp][] = [
  ["Date.now", /\bDate\.now\b/],
  ["new Date() without an argument", /\bnew Date\(\s*\)|\bnew Date\b(?!\s*\()|(?<!new )\bDate\(/],
  ["Math.random", /\bMath\.random\b/],
  ["a timer", /\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/],
  ["process", /\bprocess\s*[.[]/],
  ["performance", /\bperformance\s*[.[]/],
  ["a promise", /\basync\b|\bawait\b|\bPromise\b|\.then\(/],
  ["the global object or crypto", /\bglobalThis\b|\bcrypto\s*\./],
];

interface Import {
  readonly from: string;
  /** A path from the root for our own files, otherwise the name as written. */
  readonly to: string;
}

function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const pattern = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|\brequire\s*\(\s*)(["'`])([^"'`\n]+)\1/g;
  for (const [, , name = ""] of withoutComments(text).matchAll(pattern)) {
    found.push({ from: path, to: name.startsWith(".") ? join(dirname(path), name) : name });
  }
  return found;
}

/** Comments may speak of what code may not do; what is inside quotes stays. */
function withoutComments(text: string): string {
  const token = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replace(token, (found) => (found.startsWith("/") ? " " : found));
}

/** Code only: neither comments nor plain strings; what a template puts in is code. */
function codeOf(text: string): string {
  return withoutComments(text).replace(/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, '""');
}

/** The part of the tree that a file belongs to: `core`, `engine`, `ports`, … */
function partOf(path: string): string {
  return path.split("/")[1] ?? path;
}

function isOurs(to: string): boolean {
  return to.startsWith("src/");
}

function mayImport({ from, to }: Import): boolean {
  const part = partOf(from);
  if (!isOurs(to)) return PACKAGES[part]?.includes(to) ?? true;
  const allowed = [part, ...(RULES[part] ?? [])];
  return allowed.some(
    (name) => to === `src/${name}` || to.startsWith(`src/${name}/`) || isNameStart(to, name),
  );
}

/** `agents/find` stands for the files whose names begin so. */
function isNameStart(to: string, name: string): boolean {
  return (
    name.includes("/") &&
    !name.endsWith(".ts") &&
    to.startsWith(`src/${name}`) &&
    !to.slice(`src/${name}`.length).includes("/")
  );
}

/** Parts that no rule speaks of. */
function findUnruled(sources: Sources): string[] {
  return [...new Set([...sources.keys()].map(partOf))].filter((part) => RULES[part] === undefined);
}

/** A folder is one subject: a reader sees all of it at once. */
function findCrowds(sources: Sources): string[] {
  const counts = new Map<string, number>();
  for (const path of sources.keys()) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > 16)
    .map(([folder, count]) => `${folder} has ${count} files`);
}

/** Rules for parts that are gone. */
function findStaleRules(sources: Sources): string[] {
  const parts = new Set([...sources.keys()].map(partOf));
  return Object.keys(RULES).filter((part) => !parts.has(part));
}

/** Who knows which store a project has: the composition root, and the library, which hands it on. */
const NAMES_THE_STORE = ["src/compose/open-store.ts", "src/index.ts"];

const FOLDER_STORE = /\b(?:FolderStore|folder-store)\b/;
const FOLDER_STORE_OR_RECORDS = /\b(?:FolderStore|folder-store|session-records)\b/;

/** Everybody else works on the ports. */
function findStoreNames(sources: Sources): string[] {
  // a live conversation keeps files beside its record, and asks where
  const pattern = (part: string) => (part === "hosts" ? FOLDER_STORE : FOLDER_STORE_OR_RECORDS);
  return [...sources]
    .filter(([path]) => partOf(path) !== "store" && !NAMES_THE_STORE.includes(path))
    .filter(([path, text]) => pattern(partOf(path)).test(withoutComments(text)))
    .map(([path]) => path);
}

/** What every host may use: what conversations share, and the protocol. */
const SHARED_HOSTS = ["conversation", "mcp"];

/** The client that a file of `src/hosts` is for; null: it is not for one. */
function hostOf(path: string): string | null {
  const [, host = null] = /^src\/hosts\/([^/]+)\//.exec(path) ?? [];
  return host;
}

/** Hosts are adapters of one client each: none of them knows another. */
function findHostImports(sources: Sources): string[] {
  return [...sources]
    .flatMap(([path, text]) => importsOf(path, text))
    .filter(({ from, to }) => {
      const [host, other] = [hostOf(from), hostOf(to)];
      return host !== null && other !== null && host !== other && !SHARED_HOSTS.includes(other);
    })
    .map(({ from, to }) => `${from} imports ${to}`);
}

function findForbiddenImports(sources: Sources): string[] {
  return [...sources]
    .flatMap(([path, text]) => importsOf(path, text))
    .filter((edge) => !mayImport(edge))
    .map(({ from, to }) => `${from} imports ${to}`);
}

function findImpurities(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) =>
    partOf(path) === "core"
      ? IMPURE.filter(([, pattern]) => pattern.test(codeOf(text))).map(([what]) => `${path} uses ${what}`)
      : [],
  );
}

/** Classes and factories of adapters that do something; reading types, constants and pure functions is free. */
function findConstructions(sources: Sources): string[] {
  const adapters = [...sources].filter(([path]) => ADAPTERS.includes(partOf(path)));
  const constructors = adapters.flatMap(([, text]) =>
    [...codeOf(text).matchAll(/\bexport (?:default )?(?:class|function) (\w+)/g)]
      .map(([, name = ""]) => name)
      .filter((name) => /^[A-Z]/.test(name) || /^create[A-Z]/.test(name)),
  );
  const found: string[] = [];
  for (const [path, text] of sources) {
    const part = partOf(path);
    if ([...ADAPTERS, ...SURFACES, ...ROOTS].includes(part)) continue;
    const code = codeOf(text);
    for (const name of constructors) {
      if (new RegExp(`\\bnew ${name}\\b|\\b${name}\\(`).test(code)) found.push(`${path} constructs ${name}`);
    }
  }
  return found;
}

function findCycles(sources: Sources): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at !== -1) {
      cycles.push([...trail.slice(at), path].join(" → "));
      return;
    }
    if (done.has(path)) return;
    for (const { to } of importsOf(path, sources.get(path) ?? ""))
      if (sources.has(to)) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return cycles;
}

function findDangling(sources: Sources): string[] {
  return [...sources]
    .flatMap(([path, text]) => importsOf(path, text))
    .filter(({ to }) => isOurs(to) && !sources.has(to))
    .map(({ from, to }) => `${from} imports ${to}, which is not there`);
}

function readSources(): Sources {
  const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  return new Map(
    names
      .filter((name) => /\.(?:m?ts|tsx|json)$/.test(name))
      .map((name) => join(root, "src", name))
      .map((file) => [relative(root, file), readFileSync(file, "utf8")]),
  );
}

describe("the source tree", () => {
  const sources = readSources();

  test("the import graph was read whole", () => {
    expect(sources.size).toBeGreaterThan(20);
    const edges = [...sources].flatMap(([path, text]) => importsOf(path, text));
    expect(edges).toContainEqual({ from: "src/core/decide.ts", to: "src/core/task/decide-task.ts" });
    expect(findDangling(sources)).toEqual([]);
  });
  test("every part of src has a rule, and no rule is left of a part that is gone", () => {
    expect(findUnruled(sources)).toEqual([]);
    expect(findStaleRules(sources)).toEqual([]);
  });
  test("folders hold at most 16 files", () => {
    expect(findCrowds(sources)).toEqual([]);
  });
  test("imports go one way: core ← ports ← engine and adapters ← compose ← surfaces", () => {
    expect(findForbiddenImports(sources)).toEqual([]);
  });
  test("outside store/, only the composition root names the folder store", () => {
    expect(findStoreNames(sources)).toEqual([]);
  });
  test("no host imports another, except what all of them share", () => {
    expect(findHostImports(sources)).toEqual([]);
  });
  test("core has no clock, no randomness, no timers, no process, no promises", () => {
    expect(findImpurities(sources)).toEqual([]);
  });
  test("adapters are constructed by surfaces and the composition root only", () => {
    expect(findConstructions(sources)).toEqual([]);
  });
  test("no import cycles", () => {
    expect(findCycles(sources)).toEqual([]);
  });
});

describe("each rule can fail", () => {
  const of = (files: Record<string, string>): Sources => new Map(Object.entries(files));

  test.each([
    ["src/core/a.ts", 'import { x } from "../ports/store.ts";'],
    ["src/core/a.ts", 'export * from "../engine/engine.ts";'],
    ["src/core/a.ts", 'import { readFileSync } from "node:fs";'],
    ["src/core/a.ts", "import fs from 'fs';"],
    ["src/core/task/a.ts", 'import { z } from "zod";'],
    ["src/core/task/a.ts", 'const x = await import("../../store/journal/journal.ts");'],
    ["src/core/task/a.ts", 'import "../../errors.ts";'],
    ["src/ports/store.ts", 'import type { Engine } from "../engine/engine.ts";'],
    ["src/ports/store.ts", 'import { z } from "zod";'],
    ["src/engine/a.ts", 'import { FolderStore } from "../store/folder/folder-store.ts";'],
    ["src/engine/a.ts", 'import { hostname } from "node:os";'],
    ["src/engine/a.ts", 'import { main } from "../cli/main.ts";'],
    ["src/store/a.ts", 'import { Engine } from "../engine/engine.ts";'],
    ["src/store/a.ts", 'import { launch } from "../agents/process/launch.ts";'],
    ["src/agents/process/command.ts", 'import { Journal } from "../../store/journal/journal.ts";'],
    ["src/engine/a.ts", 'import { isAlive } from "../system/process.ts";'],
    ["src/system/a.ts", 'import { Journal } from "../store/journal/journal.ts";'],
    ["src/agents/process/launch.ts", 'import { Journal } from "../../store/journal/journal.ts";'],
    ["src/checks/a.ts", 'import { main } from "../cli/main.ts";'],
    ["src/checks/a.ts", 'import { compose } from "../compose/engine.ts";'],
    ["src/errors.ts", 'import { x } from "./core/loop.ts";'],
    ["src/observe/a.ts", 'import { readFileSync } from "node:fs";'],
    ["src/observe/a.ts", 'import { FolderLease } from "../store/folder/lease.ts";'],
    ["src/cli/a.ts", 'import { Journal } from "../store/journal/journal.ts";'],
    ["src/cli/tasks/a.ts", 'import { createCodexAgent } from "../../agents/codex/cli.ts";'],
    ["src/hosts/pi/a.ts", 'import { createCheckpoints } from "../../git/checkpoints/checkpoints.ts";'],
    ["src/tools/a.ts", 'import { main } from "../cli/main.ts";'],
    ["src/compose/a.ts", 'import { main } from "../cli/main.ts";'],
  ])("%s with %s", (path, text) => {
    expect(findForbiddenImports(of({ [path]: text }))).toHaveLength(1);
  });

  test.each([
    ["src/cli/a.ts", 'import { FolderStore } from "../store/folder/folder-store.ts";', 1],
    ["src/cli/a.ts", 'const { createSessions } = await import("../store/folder/session-records.ts");', 1],
    ["src/compose/engine.ts", "const store = new FolderStore(dir, options);", 1],
    ["src/compose/open-store.ts", 'import { FolderStore } from "../store/folder/folder-store.ts";', 0],
    ["src/cli/a.ts", "/** As FolderStore does. */", 0],
    ["src/store/folder/a.ts", 'import { FolderStore } from "./folder-store.ts";', 0],
  ])("who names the folder store: %s with %s", (path, text, count) => {
    expect(findStoreNames(of({ [path]: text }))).toHaveLength(count);
  });

  test.each([
    ["src/core/a.ts", 'import cronstrue from "cronstrue";'],
    ["src/core/task/a.ts", 'import type { Task } from "../loop.ts";'],
    ["src/core/a.ts", '// import { x } from "node:fs"'],
    ["src/engine/a.ts", 'import type { Store } from "../ports/store.ts";'],
    ["src/agents/process/launch.ts", 'import { isAlive } from "../../system/process.ts";'],
    ["src/store/a.ts", 'import { join } from "node:path";'],
    ["src/cli/a.ts", 'import { Engine } from "../engine/engine.ts";'],
  ])("but %s with %s is allowed", (path, text) => {
    expect(findForbiddenImports(of({ [path]: text }))).toEqual([]);
  });

  test.each([
    ["src/hosts/pi/a.ts", 'import { placesOf } from "../claude-code/install/places.ts";', 1],
    ["src/hosts/stop-hook/install/a.ts", 'import type { X } from "../../claude-code/hooks/payload.ts";', 1],
    ["src/hosts/conversation/a.ts", 'import { toEvent } from "../stop-hook/to-event.ts";', 1],
    ["src/hosts/mcp/a.ts", 'const x = await import("../pi/session.ts");', 1],
    ["src/hosts/pi/runs/a.ts", 'import { Seat } from "../../conversation/seat.ts";', 0],
    ["src/hosts/conversation/hooks/a.ts", 'import { serveMcp } from "../../mcp/server.ts";', 0],
    ["src/hosts/pi/runs/a.ts", 'import { Terminal } from "../terminal.ts";', 0],
    ["src/cli/hosts/a.ts", 'import { hasMonitor } from "../../hosts/claude-code/wake.ts";', 0],
  ])("a host with another: %s with %s", (path, text, count) => {
    expect(findHostImports(of({ [path]: text }))).toHaveLength(count);
  });

  test.each([
    "const now = Date.now();",
    "const now = new Date();",
    "const now = new Date( ).getTime();",
    "const now = new Date;",
    "const now = Date();",
    "const id = Math.random();",
    // In two parts, because no test may so much as name one.
    `set${"Timeout"}(f, 1);`,
    `set${"Interval"}(f, 1);`,
    "const cwd = process.cwd();",
    "const env = process['env'];",
    "const t = performance.now();",
    "async function f() {}",
    "const f = async () => 1;",
    "let p: Promise<void>;",
    "x.then(f);",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    "const s = `at ${Date.now()}`;",
  ])("impure: %s", (text) => {
    expect(findImpurities(of({ "src/core/a.ts": text }))).toHaveLength(1);
    expect(findImpurities(of({ "src/engine/a.ts": text }))).toEqual([]);
  });

  test.each([
    "const d = new Date(at).toISOString();",
    "// Date.now() is not for core",
    "/* a Promise */",
    'const say = "await the process. Promise";',
    "const processing = { performanceOf: 1 };",
  ])("pure: %s", (text) => {
    expect(findImpurities(of({ "src/core/a.ts": text }))).toEqual([]);
  });

  test("a folder that nobody gave a rule, and a rule of a folder that is gone", () => {
    expect(findUnruled(of({ "src/page/a.ts": "", "src/core/a.ts": "" }))).toEqual(["page"]);
    expect(findStaleRules(of({ "src/core/a.ts": "" }))).toContain("engine");
  });

  test("a folder with too many files", () => {
    const files = (count: number) =>
      of(Object.fromEntries(Array.from({ length: count }, (_, i) => [`src/core/goal/${i}.ts`, ""])));
    expect(findCrowds(files(16))).toEqual([]);
    expect(findCrowds(files(17))).toEqual(["src/core/goal has 17 files"]);
  });

  test("an adapter that is constructed outside of the surfaces", () => {
    const store =
      "export class FolderStore {}\nexport function createLauncher() {}\nexport function readName() {}";
    const user = "new FolderStore(dir); createLauncher(x); readName();";
    const files = (path: string) => of({ "src/store/folder/folder-store.ts": store, [path]: user });
    expect(findConstructions(files("src/engine/a.ts"))).toEqual([
      "src/engine/a.ts constructs FolderStore",
      "src/engine/a.ts constructs createLauncher",
    ]);
    expect(findConstructions(files("src/schema/a.ts"))).toHaveLength(2);
    expect(findConstructions(files("src/compose/engine.ts"))).toEqual([]);
    expect(findConstructions(files("src/cli/main.ts"))).toEqual([]);
  });

  test("a cycle, also over three files and by a type", () => {
    const two = of({
      "src/core/a.ts": 'import "./b.ts";',
      "src/core/b.ts": 'import type { A } from "./a.ts";',
    });
    expect(findCycles(two)).toEqual(["src/core/a.ts → src/core/b.ts → src/core/a.ts"]);
    const three = of({
      "src/core/a.ts": 'export { b } from "./b.ts";',
      "src/core/b.ts": 'import "./c.ts";',
      "src/core/c.ts": 'import("./a.ts")',
      "src/core/d.ts": 'import "./a.ts";',
    });
    expect(findCycles(three)).toHaveLength(1);
    expect(findCycles(of({ "src/core/a.ts": 'import "./b.ts";', "src/core/b.ts": "" }))).toEqual([]);
  });

  test("an import of a file that is not there", () => {
    expect(findDangling(of({ "src/a.ts": 'import "./b.ts";' }))).toHaveLength(1);
  });
});
