/** Traces interpreters, Python modules and make. */
import { posix } from "node:path";
import { includesOf, recipesOf } from "../../core/shell/makefile.ts";
import { STARTERS } from "../../core/shell/programs.ts";
import { skipFlags, valuesOf } from "../../core/shell/words.ts";
import { findManifest } from "../protection/manifest.ts";
import { addEverything, placeInProject, readProjectText, type Trace } from "./found.ts";

const SCRIPT_RUNNERS: ReadonlySet<string> = new Set(
  "node tsx ts-node bun ruby perl php lua Rscript".split(" "),
);
const PRELOADS = ["-r", "--require", "--import", "--loader", "--env-file"];
const CODE_FLAG = /^(?:-[ecp]|-pe|--eval|--print)$/;
const STARTER_FLAGS = "--with --extra --group -p --python -n --project".split(" ");
const MAX_MAKEFILES = 200;

export function isInterpreter(name: string): boolean {
  return SCRIPT_RUNNERS.has(name);
}

export function traceInterpreter(trace: Trace, name: string, args: readonly string[], cwd: string): void {
  trace.parts(valuesOf(args, [...PRELOADS, "--test-reporter"]), cwd);
  const manifest = ["node", "tsx", "bun"].includes(name) ? findManifest(trace.root, cwd) : null;
  if (manifest !== null) trace.usedManifests.add(manifest);
  const [script, ...words] = skipFlags(args, PRELOADS);
  const rest = args.filter((word) => word !== "--test");
  // node's own test runner
  if (rest.length < args.length) trace.runner(name, "node --test", rest, cwd);
  else if (script === undefined || args.some((word) => CODE_FLAG.test(word))) addEverything(trace.found);
  else {
    trace.script(script, cwd, false);
    trace.parts(words, cwd);
  }
}

export function tracePython(trace: Trace, args: readonly string[], cwd: string): void {
  trace.found.roles.add("config:python");
  const module = valuesOf(args, ["-m"])[0];
  if (module === undefined) {
    traceInterpreter(trace, "python", args, cwd);
    return;
  }
  // a file of that name in the working folder comes before the installed module
  const path = posix.join(cwd, module.replaceAll(".", "/"));
  for (const file of [`${path}.py`, `${path}/__init__.py`, `${path}/__main__.py`])
    trace.found.files.add(file);
  const at = args.findIndex((word) => word.startsWith("-m"));
  trace.runner(module, module, args.slice(at + (args[at] === "-m" ? 2 : 1)), cwd);
}

/** `uv run pytest` and the like. */
export function isPythonStart(name: string, args: readonly string[]): boolean {
  return STARTERS.has(name) && args.includes("run");
}

export function tracePythonStart(trace: Trace, args: readonly string[], cwd: string): void {
  trace.found.roles.add("config:python");
  const [program, ...words] = skipFlags(args.slice(args.indexOf("run") + 1), STARTER_FLAGS);
  if (program !== undefined) trace.call(program, words, cwd);
}

export function traceMake(trace: Trace, args: readonly string[], cwd: string): void {
  trace.found.roles.add("config:make");
  const folder = valuesOf(args, ["-C", "--directory"])[0];
  const home = folder === undefined ? cwd : (placeInProject(cwd, folder, trace.root) ?? cwd);
  const named = valuesOf(args, ["-f", "--file", "--makefile"]);
  const names = named.length > 0 ? named : ["GNUmakefile", "makefile", "Makefile"];
  const file = names
    .map((name) => placeInProject(home, name, trace.root))
    .find((path) => path !== null && readProjectText(trace.root, path) !== null);
  if (file === undefined || file === null) {
    addEverything(trace.found);
    return;
  }
  const words = skipFlags(args, ["-C", "--directory", "-f", "--file", "-j", "-l"]);
  const targets = words.filter((word) => !word.includes("=") && !word.startsWith("-"));
  for (const recipe of recipesOf(readMakefiles(trace, file, home), targets)) trace.line(recipe, home);
}

/** The makefile and everything that it includes, as one text. */
function readMakefiles(trace: Trace, first: string, home: string): string {
  const seen = new Set<string>();
  const open = [first];
  let text = "";
  for (let path = open.pop(); path !== undefined && seen.size < MAX_MAKEFILES; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    trace.found.files.add(path);
    const part = readProjectText(trace.root, path) ?? "";
    text += `${part}\n`;
    for (const name of includesOf(part)) {
      const included = placeInProject(home, name, trace.root);
      if (included !== null) open.push(included);
    }
  }
  return text;
}
