/** Which test runner a command starts, by its words alone. What only names one (`npm install vitest`) starts none. */
import { buildToolInvocation } from "./build-tools.ts";
import type { DirectRunner, TestRunner } from "./run.ts";
import { type Invocation, isIdle, isTestScript, scriptCertainty } from "./script-names.ts";

/** null: it runs no tests. */
export function invocationOf(
  words: readonly string[],
  tries: Tries = { left: MAX_TRIES },
): Invocation | null {
  const [first, ...args] = words;
  if (first === undefined || tries.left-- <= 0) return null;
  const program = programName(first);
  const inner = (rest: readonly string[]) => invocationOf(rest, tries);
  const wrapped = behindWrapper(program, args, inner);
  if (wrapped !== undefined) return wrapped;
  if (Object.hasOwn(PACKAGE_MANAGERS, program)) return packageManager(program, args, inner);
  if (/^py(?:thon)?[\d.]*$/.test(program)) return python(args, inner);
  if (program === "node" || program === "tsx") return node(args, inner);
  if (program === "php") return inner(args);
  const runner = PROGRAMS[program];
  if (runner !== undefined) return isIdle(runner, args) ? null : direct(runner);
  return buildToolInvocation(program, args);
}

/** Wrappers in wrappers with options that may have values: what stands where is tried, and not for ever. */
interface Tries {
  left: number;
}

const MAX_TRIES = 100;
const MAX_OPTIONS = 40;

const PROGRAMS: Readonly<Record<string, DirectRunner>> = {
  vitest: "vitest",
  jest: "jest",
  mocha: "mocha",
  _mocha: "mocha",
  pytest: "pytest",
  "py.test": "pytest",
  gotestsum: "go",
  rspec: "rspec",
  phpunit: "phpunit",
};

const PACKAGE_MANAGERS: Readonly<Record<string, TestRunner>> = {
  npm: "npm",
  pnpm: "pnpm",
  yarn: "yarn",
  bun: "bun",
};

/** In front of a command, with the number of words that they take for themselves. */
const WRAPPERS: Readonly<Record<string, number>> = {
  env: 0,
  timeout: 1,
  gtimeout: 1,
  time: 0,
  nice: 0,
  nohup: 0,
  stdbuf: 0,
  sudo: 0,
  xargs: 0,
  "xvfb-run": 0,
  npx: 0,
  pnpx: 0,
  bunx: 0,
  c8: 0,
  nyc: 0,
  "cross-env": 0,
  dotenv: 0,
  "uv run": 0,
  "poetry run": 0,
  "pipenv run": 0,
  "pdm run": 0,
  "hatch run": 0,
  "rye run": 0,
  "conda run": 0,
  "coverage run": 0,
  "bundle exec": 0,
  "direnv exec": 1,
  "mise exec": 0,
  "docker exec": 1,
  "docker run": 1,
  "podman exec": 1,
  "podman run": 1,
  "docker-compose exec": 1,
  "docker-compose run": 1,
  "compose exec": 1,
  "compose run": 1,
};

type Inner = (words: readonly string[]) => Invocation | null;

/** undefined: it is none. */
function behindWrapper(
  program: string,
  args: readonly string[],
  inner: Inner,
): Invocation | null | undefined {
  if (program === "docker" && args[0] === "compose") return inner(["compose", ...args.slice(1)]);
  if (Object.hasOwn(WRAPPERS, program)) return behindOptions(args, inner, WRAPPERS[program]);
  const pair = `${program} ${args[0] ?? ""}`;
  if (Object.hasOwn(WRAPPERS, pair)) return behindOptions(args.slice(1), inner, WRAPPERS[pair]);
  return undefined;
}

const VALUED: ReadonlySet<string> = new Set(
  "--filter -F -C --dir --prefix --workspace --cwd -p --package --project --directory --extra --group --with".split(
    " ",
  ),
);

/** The first word that is something to `inner`; a word behind an option may be the value of that option. */
function behindOptions(args: readonly string[], inner: Inner, positionals = 0): Invocation | null {
  let room = positionals;
  for (let i = 0; i < Math.min(args.length, MAX_OPTIONS); i++) {
    const word = args[i] ?? "";
    const before = args[i - 1] ?? "";
    if (word.startsWith("-") || VALUED.has(before) || /^[A-Za-z_]\w*=/.test(word)) continue;
    const found = inner(args.slice(i));
    if (found !== null) return found;
    if (/^--?\w[^=]*$/.test(before)) continue;
    if (room === 0) return null;
    room--;
  }
  return null;
}

function packageManager(program: string, args: readonly string[], inner: Inner): Invocation | null {
  const runner = PACKAGE_MANAGERS[program] ?? "npm";
  if (isIdle(runner, args)) return null;
  const script = ([name = ""]: readonly string[]): Invocation | null => {
    const certainty = scriptCertainty(name);
    return certainty === null ? null : { runner, isDelegating: true, isCertain: certainty === "certain" };
  };
  return behindOptions(args, ([command = "", ...rest]) => {
    if (["exec", "x", "dlx"].includes(command)) return behindOptions(rest, inner);
    if (command === "test" && program === "bun") return direct("bun");
    if (command === "run" || command === "run-script") {
      return behindOptions(rest, (words) =>
        program === "npm" ? script(words) : (script(words) ?? inner(words)),
      );
    }
    if (command === "workspace") return packageManager(program, rest.slice(1), inner);
    if (command === "workspaces")
      return packageManager(
        program,
        rest.filter((word) => word !== "foreach"),
        inner,
      );
    if (program === "npm") return ["test", "t", "tst"].includes(command) ? script(["test"]) : null;
    return inner([command, ...rest]) ?? (isTestScript(command) ? script([command]) : null);
  });
}

function python(args: readonly string[], inner: Inner): Invocation | null {
  const at = args.findIndex((word) => word === "-m" || !word.startsWith("-"));
  const [, module = "", ...rest] = args.slice(at);
  if (at === -1) return null;
  if (args[at] === "-m") {
    if (module === "unittest") return isIdle("unittest", rest) ? null : direct("unittest");
    return inner([module, ...rest]);
  }
  const script = programName(args[at] ?? "");
  if (script === "manage.py" && module === "test")
    return isIdle("unittest", rest) ? null : direct("unittest");
  return /^test_\w+\.py$|_test\.py$/.test(script) ? { ...direct("unittest"), isCertain: false } : null;
}

function node(args: readonly string[], inner: Inner): Invocation | null {
  if (args.includes("--test")) return isIdle("node", args) ? null : direct("node");
  const run = args.indexOf("--run");
  if (run !== -1) return inner(["npm", "run", ...args.slice(run + 1)]);
  const script = args.findIndex((word) => !word.startsWith("-"));
  if (script === -1) return null;
  return /[._-](?:test|spec)\.[cm]?[jt]sx?$/.test(args[script] ?? "")
    ? { ...direct("node"), isCertain: false }
    : inner(args.slice(script));
}

function direct(runner: DirectRunner): Invocation {
  return { runner, isDelegating: false, isCertain: true };
}

/** `./node_modules/.bin/vitest`, `vitest@3`, `jest.js` and `mvnw.cmd` by their bare names. */
function programName(word: string): string {
  const base = word.replaceAll("\\", "/").split("/").at(-1) ?? "";
  return base.replace(/(?!^)@.*$/, "").replace(/\.(?:cmd|exe|bat|[cm]?js)$/, "");
}
