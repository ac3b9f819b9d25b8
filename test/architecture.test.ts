/** The direction of imports and the purity of `core`, on the real import graph (DESIGN.md, invariant 12). */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Path from the repository's root → text. */
type Sources = ReadonlyMap<string, string>;

const CORE_PACKAGES = ["cronstrue"];
const ADAPTERS = ["store", "checks", "git", "agents", "notify", "fleet"];
const SURFACES = ["cli", "tui", "web", "hosts", "index.ts"];
const ROOTS = ["compose.ts", "compose-agents.ts", "agent-choice.ts", "index.ts"];
const MAX_LINES = 350;

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

/** The part of the tree that a file belongs to: `core`, `engine`, `ports.ts`, … */
function partOf(path: string): string {
  const part = path.split("/")[1] ?? path;
  // the ports are three files
  return part === "story-ports.ts" || part === "agent-ports.ts" ? "ports.ts" : part;
}

function isOurs(to: string): boolean {
  return to.startsWith("src/");
}

function mayImport({ from, to }: Import): boolean {
  const [source, target] = [partOf(from), partOf(to)];
  if (source === "core") return isOurs(to) ? target === "core" : CORE_PACKAGES.includes(to);
  if (!isOurs(to)) return source !== "ports.ts" && source !== "engine";
  if (source === "ports.ts") return target === "core" || target === "ports.ts";
  if (source === "engine") return ["core", "ports.ts", "engine", "errors.ts"].includes(target);
  if (source === "errors.ts") return false;
  if (source === "system") return ["core", "ports.ts", "system"].includes(target);
  if (source === "schema") return ["core", "schema", "errors.ts"].includes(target);
  if (ADAPTERS.includes(source)) {
    return [source, "core", "ports.ts", "errors.ts", "schema", "system"].includes(target);
  }
  return true;
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

function findLongFiles(sources: Sources): string[] {
  return [...sources]
    .map(([path, text]) => [path, text.trimEnd().split("\n").length] as const)
    .filter(([, lines]) => lines > MAX_LINES)
    .map(([path, lines]) => `${path} has ${lines} lines`);
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

describe("invariant 12: the source tree", () => {
  const sources = readSources();

  test("the import graph was read whole", () => {
    expect(sources.size).toBeGreaterThan(20);
    const edges = [...sources].flatMap(([path, text]) => importsOf(path, text));
    expect(edges).toContainEqual({ from: "src/core/decide.ts", to: "src/core/task/decide-task.ts" });
    expect(findDangling(sources)).toEqual([]);
  });
  test("imports go one way: core ← ports ← engine and adapters ← surfaces", () => {
    expect(findForbiddenImports(sources)).toEqual([]);
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
  test(`no file is longer than ${MAX_LINES} lines`, () => {
    expect(findLongFiles(sources)).toEqual([]);
  });
});

describe("each rule can fail", () => {
  const of = (files: Record<string, string>): Sources => new Map(Object.entries(files));

  test.each([
    ["src/core/a.ts", 'import { x } from "../ports.ts";'],
    ["src/core/a.ts", 'export * from "../engine/engine.ts";'],
    ["src/core/a.ts", 'import { readFileSync } from "node:fs";'],
    ["src/core/a.ts", "import fs from 'fs';"],
    ["src/core/task/a.ts", 'import { z } from "zod";'],
    ["src/core/task/a.ts", 'const x = await import("../../store/journal.ts");'],
    ["src/core/task/a.ts", 'import "../../errors.ts";'],
    ["src/ports.ts", 'import type { Engine } from "./engine/engine.ts";'],
    ["src/ports.ts", 'import { z } from "zod";'],
    ["src/engine/a.ts", 'import { FolderStore } from "../store/folder-store.ts";'],
    ["src/engine/a.ts", 'import { hostname } from "node:os";'],
    ["src/engine/a.ts", 'import { main } from "../cli/main.ts";'],
    ["src/store/a.ts", 'import { Engine } from "../engine/engine.ts";'],
    ["src/store/a.ts", 'import { launch } from "../agents/launch.ts";'],
    ["src/agents/command.ts", 'import { Journal } from "../store/journal.ts";'],
    ["src/engine/a.ts", 'import { isAlive } from "../system/process.ts";'],
    ["src/system/a.ts", 'import { Journal } from "../store/journal.ts";'],
    ["src/agents/launch.ts", 'import { Journal } from "../store/journal.ts";'],
    ["src/checks/a.ts", 'import { main } from "../cli/main.ts";'],
    ["src/checks/a.ts", 'import { compose } from "../compose.ts";'],
    ["src/errors.ts", 'import { x } from "./core/loop.ts";'],
  ])("%s with %s", (path, text) => {
    expect(findForbiddenImports(of({ [path]: text }))).toHaveLength(1);
  });

  test.each([
    ["src/core/a.ts", 'import cronstrue from "cronstrue";'],
    ["src/core/task/a.ts", 'import type { Task } from "../loop.ts";'],
    ["src/core/a.ts", '// import { x } from "node:fs"'],
    ["src/engine/a.ts", 'import type { Store } from "../ports.ts";'],
    ["src/agents/launch.ts", 'import { isAlive } from "../system/process.ts";'],
    ["src/store/a.ts", 'import { join } from "node:path";'],
    ["src/cli/a.ts", 'import { Engine } from "../engine/engine.ts";'],
  ])("but %s with %s is allowed", (path, text) => {
    expect(findForbiddenImports(of({ [path]: text }))).toEqual([]);
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

  test("an adapter that is constructed outside of the surfaces", () => {
    const store =
      "export class FolderStore {}\nexport function createLauncher() {}\nexport function readName() {}";
    const user = "new FolderStore(dir); createLauncher(x); readName();";
    const files = (path: string) => of({ "src/store/folder-store.ts": store, [path]: user });
    expect(findConstructions(files("src/engine/a.ts"))).toEqual([
      "src/engine/a.ts constructs FolderStore",
      "src/engine/a.ts constructs createLauncher",
    ]);
    expect(findConstructions(files("src/schema/a.ts"))).toHaveLength(2);
    expect(findConstructions(files("src/compose.ts"))).toEqual([]);
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

  test("a file that is too long, and an import of a file that is not there", () => {
    expect(findLongFiles(of({ "src/a.ts": "x\n".repeat(350) }))).toEqual([]);
    expect(findLongFiles(of({ "src/a.ts": "x\n".repeat(351) }))).toEqual(["src/a.ts has 351 lines"]);
    expect(findDangling(of({ "src/a.ts": 'import "./b.ts";' }))).toHaveLength(1);
  });
});
