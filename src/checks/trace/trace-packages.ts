/** Traces what package managers run, with the scripts before and after it. */
import { posix } from "node:path";
import { matchesGlob } from "../../core/glob.ts";
import { type PackageCommand, parsePackageCall } from "../../core/toolchain/package-manager.ts";
import { findManifest, readManifest, scriptNames, scriptOf } from "../protection/manifest.ts";
import { addEverything, placeInProject, type Trace } from "./found.ts";
import { packageSettings } from "./own-settings.ts";
import { traceInterpreter } from "./trace-languages.ts";

const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "prepare"];

export function tracePackageManager(trace: Trace, name: string, args: readonly string[], cwd: string): void {
  addSettings(trace, name);
  const { folder } = parsePackageCall(name, args, () => false);
  const home = folder === null ? cwd : (placeInProject(cwd, folder, trace.root) ?? cwd);
  const manifest = enterPackage(trace, home);
  const known = manifest === null ? null : readManifest(trace.root, manifest);
  const { command, isEverywhere } = parsePackageCall(
    name,
    args,
    (script) => scriptOf(known, script) !== null,
  );
  const all = new Set(isEverywhere ? [manifest, ...trace.manifests()] : [manifest]);
  for (const each of all) if (each !== null) runIn(trace, each, command);
  if (command.kind === "line") trace.line(command.line, home);
  if (command.kind === "program") {
    const [program, ...words] = command.words;
    if (program === "bun test") trace.runner("bun", "bun", ["test", ...words], home);
    else if (program === "bun") traceInterpreter(trace, "bun", words, home);
    else if (program !== undefined) trace.call(program, words, home);
  }
}

/** `npx`, `pnpx` and `bunx` use the settings of their package manager. */
export function addSettings(trace: Trace, program: string): void {
  for (const path of packageSettings(program.replace(/pkg$|x$/, ""))) trace.found.own.add(path);
}

function runIn(trace: Trace, manifest: string, command: PackageCommand): void {
  if (command.kind === "script") packageScript(trace, manifest, command.name, command.words);
  if (command.kind === "install") {
    for (const script of INSTALL_SCRIPTS) packageScript(trace, manifest, script, []);
  }
}

function packageScript(trace: Trace, manifest: string, name: string, words: readonly string[]): void {
  const folder = posix.dirname(manifest) === "." ? "" : posix.dirname(manifest);
  enterPackage(trace, folder);
  const scripts = readManifest(trace.root, manifest);
  for (const script of [`pre${name}`, name, `post${name}`]) {
    trace.found.values.add(`${manifest}#scripts.${script}`);
    const text = scriptOf(scripts, script);
    const more = script === name ? words.map((word) => ` '${word.replaceAll("'", "'\\''")}'`).join("") : "";
    if (text !== null) trace.line(text + more, folder);
  }
}

/** Commands here find the programs of the package first and read the settings of the package manager. */
export function enterPackage(trace: Trace, cwd: string): string | null {
  trace.found.roles.add("config:packages");
  trace.found.programs.add("node");
  for (let folder = cwd; ; folder = posix.join(folder, "..")) {
    trace.found.binFolders.add(posix.join(folder, "node_modules/.bin"));
    if (posix.join(trace.root, folder) === "/" || folder.startsWith("../..")) break;
  }
  const manifest = findManifest(trace.root, cwd);
  if (manifest !== null) trace.usedManifests.add(manifest);
  return manifest;
}

const IN_ONE_PACKAGE = /^(?:run-[sp]|npm-run-all2?|concurrently)$/;
const IN_MANY_PACKAGES = /^(?:turbo|nx|lerna|wireit|moon|rush)$/;

export function isScriptsRunner(name: string): boolean {
  return IN_ONE_PACKAGE.test(name) || IN_MANY_PACKAGES.test(name);
}

/** Traces programs that run package scripts by name. */
export function traceScriptsRunner(trace: Trace, name: string, args: readonly string[], cwd: string): void {
  const manifest = enterPackage(trace, cwd);
  const isWide = IN_MANY_PACKAGES.test(name);
  if (isWide) addEverything(trace.found);
  const manifests = isWide ? trace.manifests() : manifest === null ? [] : [manifest];
  for (const word of args.filter((arg) => !arg.startsWith("-"))) {
    if (name === "concurrently" && !word.startsWith("npm:")) trace.line(word, cwd);
    else for (const path of manifests) scriptsLike(trace, path, word.replace(/^npm:/, ""));
  }
}

function scriptsLike(trace: Trace, manifest: string, pattern: string): void {
  // in script names a slash is a plain character
  const flat = (text: string): string => text.replaceAll("/", "_");
  for (const script of scriptNames(readManifest(trace.root, manifest))) {
    if (matchesGlob(flat(script), flat(pattern))) packageScript(trace, manifest, script, []);
  }
}
