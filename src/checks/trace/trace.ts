/**
 * Finds everything that a command depends on: programs, scripts, commands of package managers and make, and the roles
 * that test runners read. Runs nothing and must not throw. For an unknown command, the files of every runner count.
 */
import { posix } from "node:path";
import type { ShellCommand } from "../../core/shell/command.ts";
import { isNeutral, isPython, WRAPPERS } from "../../core/shell/programs.ts";
import { readShellLine } from "../../core/shell/reader.ts";
import { skipFlags, valuesOf } from "../../core/shell/words.ts";
import { isSource } from "../../core/toolchain/files.ts";
import { isPackageManager, toolOf } from "../../core/toolchain/table.ts";
import { askedIn, writtenBy } from "../protection/asked-files.ts";
import { sectionsFor } from "../protection/manifest.ts";
import {
  addEverything,
  createFound,
  type Found,
  placeInProject,
  readProjectText,
  type Trace,
} from "./found.ts";
import { closureOf } from "./imports.ts";
import { traceGit } from "./trace-git.ts";
import {
  isInterpreter,
  isPythonStart,
  traceInterpreter,
  traceMake,
  tracePython,
  tracePythonStart,
} from "./trace-languages.ts";
import {
  addSettings,
  enterPackage,
  isScriptsRunner,
  tracePackageManager,
  traceScriptsRunner,
} from "./trace-packages.ts";

const MAX_LINES = 2_000;
const MAX_DEPTH = 40;
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash"]);
/** Wrappers that look for programs in the package first. */
const PACKAGE_WRAPPER = /^(?:npx|pnpx|bunx|cross-env|cross-env-shell|dotenv)$/;
const PART_FILE = /\.(?:sh|bash|py|[cm]?[jt]sx?|rb|pl|php|lua|json|ya?ml|toml|ini|cfg|conf|mk|sql|R)$/;
const EXPECTED = /expect|golden|baseline|snapshot|fixture|reference|approved/i;
/** Build output: it is the product, not part of the check. */
const BUILT = /(?:^|\/)(?:dist|build|out|target|node_modules|coverage|vendor|\.?venv)(?:\/|$)/;
/** Flags of coverage tools that have a value. */
const COVERAGE_FLAGS = ["--reporter", "-r", "--reports-dir", "--include", "--exclude"];
const CONFIG_FLAGS = ["-c", "--config", "-p", "--project", "-r", "--require", "--import", "--rcfile"];

export function traceCommand(command: string, root: string, manifests: () => readonly string[]): Found {
  const tracer = new Tracer(root, manifests);
  tracer.line(command, "");
  for (const path of tracer.found.asked)
    if (tracer.found.written.has(path) || isProduct(path)) tracer.found.asked.delete(path);
  for (const manifest of tracer.usedManifests) {
    for (const value of sectionsFor(manifest, tracer.found.roles)) tracer.found.values.add(value);
  }
  return tracer.found;
}

function isProduct(path: string): boolean {
  return path === "." || path.startsWith("..") || BUILT.test(path) || isSource(path);
}

function addPlaces(places: Set<string>, words: readonly string[], cwd: string, root: string): void {
  for (const word of words) {
    const path = /[*?[]/.test(word) ? null : placeInProject(cwd, word, root);
    if (path !== null) places.add(path);
  }
}

class Tracer implements Trace {
  readonly root: string;
  readonly manifests: () => readonly string[];
  readonly found = createFound();
  readonly usedManifests = new Set<string>();
  /** Scripts can call each other in circles. */
  private readonly seen = new Set<string>();
  private depth = 0;

  constructor(root: string, manifests: () => readonly string[]) {
    this.root = root;
    this.manifests = manifests;
  }

  line(text: string, cwd: string): void {
    const key = `${cwd}\n${text}`;
    if (this.seen.has(key)) return;
    if (this.seen.size > MAX_LINES) {
      addEverything(this.found);
      return;
    }
    this.seen.add(key);
    const folders = [cwd];
    const parts = readShellLine(text);
    const asked = askedIn(parts);
    for (const part of parts) {
      const here = folders.at(-1) ?? cwd;
      if (part.kind === "open") folders.push(here);
      else if (part.kind === "command") {
        addPlaces(this.found.asked, asked.get(part.command) ?? [], here, this.root);
        addPlaces(this.found.written, writtenBy(part.command), here, this.root);
        folders[folders.length - 1] = this.command(part.command, here);
      } else if (folders.length > 1) folders.pop();
    }
  }

  /** Returns the folder in which the next command runs. */
  private command({ assignments, words, inputs }: ShellCommand, cwd: string): string {
    for (const { value } of assignments) this.parts(value.split(/[\s=:]+/), cwd);
    const [program, ...args] = words;
    if (program === "cd" || program === "pushd") {
      return placeInProject(cwd, skipFlags(args, [])[0] ?? "", this.root) ?? cwd;
    }
    if (program !== undefined) this.call(program, args, cwd);
    if (!isNeutral(program ?? "")) this.parts(inputs, cwd);
    return cwd;
  }

  call(program: string, args: readonly string[], cwd: string): void {
    if (this.depth > MAX_DEPTH) {
      addEverything(this.found);
      return;
    }
    this.depth++;
    this.dispatch(program, args, cwd);
    this.depth--;
  }

  private dispatch(program: string, args: readonly string[], cwd: string): void {
    const name = posix.basename(program).replace(/\.(?:cmd|exe|bat)$/, "");
    if (!program.includes("/")) this.found.programs.add(name);
    if (SHELLS.has(name)) this.shell(args, cwd);
    else if (name === "." || name === "source") this.script(args[0] ?? "", cwd, true);
    else if (name === "eval") this.line(args.join(" "), cwd);
    else if (isPackageManager(name)) tracePackageManager(this, name, args, cwd);
    else if (WRAPPERS.has(name)) this.wrapper(name, args, cwd);
    else if (isPython(name)) tracePython(this, args, cwd);
    else if (isInterpreter(name)) traceInterpreter(this, name, args, cwd);
    else if (isPythonStart(name, args)) tracePythonStart(this, args, cwd);
    else if (name === "make" || name === "gmake") traceMake(this, args, cwd);
    else if (name === "git") traceGit(this, args, cwd);
    else if (isScriptsRunner(name)) traceScriptsRunner(this, name, args, cwd);
    else this.runner(program, name, args, cwd);
    // a program in the project, named by its path
    const file = program.includes("/") ? placeInProject(cwd, program, this.root) : null;
    if (file !== null) this.found.files.add(file);
  }

  private shell(args: readonly string[], cwd: string): void {
    const at = args.findIndex((word) => /^-[a-z]*c$/.test(word));
    const [script] = skipFlags(args, ["-o"]);
    if (at !== -1) this.line(args[at + 1] ?? "", cwd);
    else if (script === undefined) addEverything(this.found);
    else this.script(script, cwd, true);
  }

  private wrapper(name: string, args: readonly string[], cwd: string): void {
    const isLocal = PACKAGE_WRAPPER.test(name);
    if (isLocal) enterPackage(this, cwd);
    if (/^(?:npx|pnpx|bunx)$/.test(name)) addSettings(this, name);
    const { own, valued } = WRAPPERS.get(name) ?? { own: 0, valued: [] };
    const line = name === "npx" ? valuesOf(args, ["-c", "--call"])[0] : undefined;
    if (line !== undefined) {
      this.line(line, cwd);
      return;
    }
    this.parts(valuesOf(args, ["-e", "-f", "--env-file"]), cwd);
    let rest = skipFlags(args, valued).slice(own);
    while (/^(?:\w+=|--?\w*)/.test(rest[0] ?? "")) rest = rest.slice(1);
    const [program, ...words] = rest;
    // `npx vitest@3`
    const bare = isLocal ? program?.replace(/(?<=.)@[\w.^~-]+$/, "") : program;
    if (bare !== undefined) this.call(bare, words, cwd);
  }

  runner(program: string, name: string, args: readonly string[], cwd: string): void {
    const runner = toolOf(name, args)?.reads;
    if (runner === undefined) {
      this.unknown(program, name, args, cwd);
      return;
    }
    for (const role of runner.roles) this.found.roles.add(role);
    if (runner.roles.includes("config:packages")) enterPackage(this, cwd);
    this.parts(valuesOf(args, CONFIG_FLAGS), cwd);
    if (runner.words === "tests") this.tests(args, cwd);
    if (runner.words === "rest") {
      const [next, ...rest] = skipFlags(args, COVERAGE_FLAGS);
      if (name === "coverage") {
        if (next === "run") tracePython(this, rest, cwd);
      } else if (next !== undefined) this.call(next, rest, cwd);
    }
  }

  private unknown(program: string, name: string, args: readonly string[], cwd: string): void {
    const isOther = !isNeutral(name);
    if (isOther && program.includes("/")) this.script(program, cwd, false);
    else if (isOther) addEverything(this.found);
    // the arguments of a neutral program are the product, except for files with expected results
    const parts = args.filter((word) => isOther || EXPECTED.test(word));
    this.parts(parts, cwd);
  }

  /** Adds a script of the project with its imports; traces all commands of a shell script. */
  script(word: string, cwd: string, isShell: boolean): void {
    const path = placeInProject(cwd, word, this.root);
    const text = path === null ? null : readProjectText(this.root, path);
    if (path !== null) this.found.files.add(path);
    const [, interpreter = ""] = /^#!.*?([\w.-]+)\s*$/.exec(text?.split("\n", 1)[0] ?? "") ?? [];
    const isForShell = isShell || SHELLS.has(interpreter) || /\.(?:sh|bash)$/.test(word);
    if (text !== null && isForShell) this.line(text, cwd);
    else addEverything(this.found);
    if (path !== null && !isForShell) {
      for (const part of closureOf(this.root, path, false)) this.found.files.add(part);
    }
  }

  parts(words: readonly string[], cwd: string): void {
    for (const word of words) {
      const path = placeInProject(cwd, word.replace(/^--?[\w-]+=/, ""), this.root);
      if (path === null || isSource(path) || readProjectText(this.root, path) === null) continue;
      if (PART_FILE.test(path) || EXPECTED.test(path)) this.found.files.add(path);
    }
  }

  /** Files and folders in the arguments of a test runner are tests, except for source folders. */
  private tests(words: readonly string[], cwd: string): void {
    for (const word of words) {
      if (word.startsWith("-")) continue;
      const path = placeInProject(cwd, word.replace(/::.*$/, ""), this.root);
      if (path === null || path === "." || path === "" || path.startsWith("..") || isSource(`${path}/`))
        continue;
      if (readProjectText(this.root, path) !== null) this.found.files.add(path);
      else this.found.folders.add(path);
    }
  }
}
