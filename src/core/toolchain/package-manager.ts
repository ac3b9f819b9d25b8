/** Parses calls of npm, pnpm, yarn and bun. `hasScript` knows the scripts of the project. */
export type PackageCommand =
  | { readonly kind: "script"; readonly name: string; readonly words: readonly string[] }
  | { readonly kind: "program"; readonly words: readonly string[] }
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "install" }
  | { readonly kind: "other" };

export interface PackageCall {
  readonly command: PackageCommand;
  /** null: the working folder. */
  readonly folder: string | null;
  /** It runs in several packages of the workspace. */
  readonly isEverywhere: boolean;
}

const FOLDER_FLAGS = ["--prefix", "-C", "--cwd", "--dir"];
const EVERYWHERE_FLAGS = "-w --workspace --workspaces -ws -r --recursive --filter -F -A --all".split(" ");
const VALUED_FLAGS = [
  ...FOLDER_FLAGS,
  ..."-w --workspace --filter -F --loglevel --script-shell --from --include".split(" "),
];
const TEST = /^(?:test|t|tst)$/;
const SCRIPTS = /^(?:start|stop|restart)$/;
const OWN_COMMANDS =
  /^(?:audit|cache|config|dedupe|doctor|explain|help|info|init|link|list|login|logout|ls|outdated|owner|pack|ping|prune|publish|rebuild|remove|rm|root|search|set|store|uninstall|unlink|update|up|upgrade|version|view|whoami|why|import|patch|fund|sbom|query|pkg|create|build|pm)$/;

export function parsePackageCall(
  program: string,
  args: readonly string[],
  hasScript: (name: string) => boolean,
): PackageCall {
  let folder: string | null = null;
  let isEverywhere = false;
  const words = [...args];
  const takeFlags = (): void => {
    while (words[0]?.startsWith("-") && words[0] !== "--") {
      const [flag = "", value] = (words.shift() ?? "").split(/=(.*)/s);
      const isFolder = FOLDER_FLAGS.includes(flag);
      if (EVERYWHERE_FLAGS.includes(flag)) isEverywhere = true;
      const taken =
        value ??
        (VALUED_FLAGS.includes(flag) && !(program === "pnpm" && flag === "-w") ? words.shift() : undefined);
      if (isFolder && taken !== undefined) folder = taken;
    }
  };
  takeFlags();
  let verb = words.shift();
  if (verb === "workspace" || verb === "workspaces") {
    isEverywhere = true;
    // `yarn workspace <name> test`, `yarn workspaces foreach -A run test`, `yarn workspaces run test`
    if (verb === "workspace" || words[0] === "foreach") words.shift();
    takeFlags();
    verb = words.shift();
  }
  const rest = (): string[] => {
    takeFlags();
    if (words[0] === "--") words.shift();
    return words;
  };
  return { command: commandOf(program, verb, rest, hasScript), folder, isEverywhere };
}

function commandOf(
  program: string,
  verb: string | undefined,
  rest: () => string[],
  hasScript: (name: string) => boolean,
): PackageCommand {
  if (verb === undefined) return program === "yarn" ? { kind: "install" } : { kind: "other" };
  if (["ci", "install", "i", "add", "clean-install", "install-test", "it"].includes(verb))
    return { kind: "install" };
  if (["run", "run-script", "rum", "urn"].includes(verb)) {
    const [name, ...words] = rest();
    if (name === undefined) return { kind: "other" };
    return program === "bun" && !hasScript(name)
      ? { kind: "program", words: ["bun", name, ...words] }
      : { kind: "script", name, words: withoutDashes(words) };
  }
  if (["exec", "x", "dlx"].includes(verb)) return execOf(rest());
  if (program === "bun" && verb === "test") return { kind: "program", words: ["bun test", ...rest()] };
  if (TEST.test(verb)) return { kind: "script", name: "test", words: withoutDashes(rest()) };
  if (SCRIPTS.test(verb) || (hasScript(verb) && program !== "npm"))
    return { kind: "script", name: verb, words: withoutDashes(rest()) };
  if (program === "npm" || OWN_COMMANDS.test(verb)) return { kind: "other" };
  return { kind: "program", words: program === "bun" ? ["bun", verb, ...rest()] : [verb, ...rest()] };
}

function execOf(words: readonly string[]): PackageCommand {
  const at = words.findIndex((word) => word === "-c" || word === "--call");
  const line = at === -1 ? undefined : words[at + 1];
  return line === undefined ? { kind: "program", words } : { kind: "line", line };
}

function withoutDashes(words: readonly string[]): string[] {
  const at = words.indexOf("--");
  return at === -1 ? [...words] : [...words.slice(0, at), ...words.slice(at + 1)];
}
