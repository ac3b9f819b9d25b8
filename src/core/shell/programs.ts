/** Programs without a toolchain: built-ins, tools that only read, and programs that start other programs. */

/** Tools that only read their input and depend on no other file. */
const NEUTRAL: ReadonlySet<string> = new Set(
  (
    "echo printf test [ [[ true false : cat tac grep egrep fgrep zgrep rg ag wc sort uniq head tail cut tr sed awk gawk jq yq diff cmp " +
    "comm ls find fd stat du df pwd export set unset exit return sleep date basename dirname realpath readlink mkdir rmdir rm cp mv ln " +
    "touch tee read local declare readonly shift trap wait kill umask ulimit hash type which whereis id whoami uname hostname seq expr " +
    "let bc dc paste column fold nl rev md5sum sha1sum sha256sum cksum base64 xxd od file tar gzip gunzip zip unzip curl wget nc ping " +
    "git tput clear yes break continue for in case esac select function alias chmod lsof ps pgrep"
  ).split(" "),
);

export function isNeutral(program: string): boolean {
  return NEUTRAL.has(program);
}

/** Built-ins of the shell: no file on the PATH can replace them. */
const BUILT_IN: ReadonlySet<string> = new Set(
  (
    "echo printf test [ [[ true false : pwd export set unset exit return read local declare readonly shift trap wait kill umask ulimit " +
    "hash type let break continue for in case esac select function alias cd . source eval exec command builtin times getopts"
  ).split(" "),
);

export function isBuiltIn(program: string): boolean {
  return BUILT_IN.has(program);
}

/** A program that starts the command that follows. */
export interface Wrapper {
  /** How many words belong to the wrapper itself. */
  readonly own: number;
  /** Flags with a value. */
  readonly valued: readonly string[];
  /** It starts a command only after one of these words, its first word. */
  readonly verbs?: readonly string[];
}

const plain = (names: string, own = 0): [string, Wrapper][] =>
  names.split(" ").map((name) => [name, { own, valued: [] }]);

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ...plain("nohup setsid caffeinate cross-env cross-env-shell corepack"),
  ["env", { own: 0, valued: ["-u", "-C", "-S"] }],
  ["timeout", { own: 1, valued: ["-s", "-k"] }],
  ["gtimeout", { own: 1, valued: ["-s", "-k"] }],
  ["nice", { own: 0, valued: ["-n"] }],
  ["ionice", { own: 0, valued: ["-c", "-n"] }],
  ["stdbuf", { own: 0, valued: ["-i", "-o", "-e"] }],
  ["sudo", { own: 0, valued: ["-u", "-g"] }],
  ["doas", { own: 0, valued: ["-u"] }],
  ["xargs", { own: 0, valued: ["-n", "-P", "-I", "-L", "-d"] }],
  ["xvfb-run", { own: 0, valued: ["-s", "-n"] }],
  ["dotenv", { own: 0, valued: ["-e", "-f"] }],
  ["dotenvx", { own: 1, valued: ["-f"], verbs: ["run"] }],
  ["direnv", { own: 2, valued: [], verbs: ["exec"] }],
  ["mise", { own: 1, valued: ["-C"], verbs: ["exec", "x"] }],
  ["asdf", { own: 1, valued: [], verbs: ["exec"] }],
  ["bundle", { own: 1, valued: [], verbs: ["exec"] }],
  ["bunx", { own: 0, valued: ["-p", "--package"] }],
  ["npx", { own: 0, valued: ["-p", "--package"] }],
  ["pnpx", { own: 0, valued: ["-p", "--package"] }],
  ["uvx", { own: 0, valued: "--with --from -p --python".split(" ") }],
  ["pipx", { own: 1, valued: ["--spec"], verbs: ["run"] }],
  ["watchexec", { own: 0, valued: ["-w", "-e"] }],
  ["strace", { own: 0, valued: ["-o", "-e"] }],
]);

/** After `run` they start a command in the project's environment. */
export const STARTERS: ReadonlySet<string> = new Set("uv poetry pipenv pdm hatch rye conda".split(" "));

/** They start a command in a container, after the name of an image or a service. Its files are unknown. */
export const CONTAINERS: ReadonlySet<string> = new Set("docker podman docker-compose compose".split(" "));

export function isPython(program: string): boolean {
  return /^(?:py|python|pypy)(?:\d(?:\.\d+)?)?$/.test(program);
}
