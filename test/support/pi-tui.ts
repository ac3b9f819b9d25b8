/**
 * The real pi in a real terminal (tmux), with the extension as a person has it after `pi install`, and a scripted
 * model. Guard with `hasTmux` and `isWorldMissing`. Each pi has a terminal of its own, so that several may be open in
 * one project.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type AgentModel, startModel } from "./agents/model.ts";
import { makeWorld, type World, type WorldName } from "./agents/worlds.ts";
import { cleanEnv, leftovers } from "./cli.ts";
import { makeRepository } from "./goals/goal-cli.ts";
import { openTerminal, type Terminal } from "./tmux.ts";
import { until } from "./until.ts";

/** Of the package: what `pi install npm:loopwright` puts into the settings of pi comes down to it. */
export const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
export const PI_VERSIONS: readonly WorldName[] = ["pi", "pi-next"];

/** A client that starts on a busy machine takes its time. */
const WAIT_MS = 40_000;
/** A look at the screen costs a process: not more often than a person would notice. */
const LOOK_MS = 40;

export interface PiWorld {
  readonly project: string;
  readonly model: AgentModel;
  readonly world: World;
  readonly env: Readonly<Record<string, string>>;
}

export interface PiWorldOptions {
  /** The person's own settings of pi. */
  readonly settings?: object;
  readonly env?: Readonly<Record<string, string>>;
}

/** A repository with a check that is red until there is a done.txt; the model says "fine" until told otherwise. */
export async function makePiWorld(name: WorldName, options: PiWorldOptions = {}): Promise<PiWorld> {
  const project = makeRepository();
  const model = await startModel({ kind: "text", text: "fine" });
  onTestFinished(() => model.close());
  const world = makeWorld(name, project, model.url);
  const file = join(world.home, ".pi", "agent", "settings.json");
  const settings = {
    ...JSON.parse(readFileSync(file, "utf8")),
    quietStartup: true,
    packages: [PACKAGE],
    ...options.settings,
  };
  writeFileSync(file, JSON.stringify(settings));
  return { project, model, world, env: cleanEnv(project, { ...world.env, ...options.env }) };
}

export interface PiTui extends Pick<Terminal, "keys" | "screen"> {
  /** Types it, waits until the input box shows it, and presses Enter. */
  type(text: string): Promise<void>;
  /** Types it and leaves it there. */
  write(text: string): Promise<void>;
  /** Enter, for what is there and is answered by such a screen. */
  submit(pattern: RegExp): Promise<void>;
  /** Waits until the screen matches; returns it. */
  sees(pattern: RegExp, withinMs?: number): Promise<string>;
  /** Waits until the screen does not match any more. */
  loses(pattern: RegExp, withinMs?: number): Promise<void>;
  pid(): number;
  /** Ends it as a person does; returns the exit code. */
  exit(): Promise<number>;
  /** Waits for its end and returns the exit code; 128 + n after a signal. */
  ended(withinMs?: number): Promise<number>;
}

/** Starts it and waits for its input box. */
export async function openPi({ project, world, env }: PiWorld, ...args: string[]): Promise<PiTui> {
  const folder = mkdtempSync(join(dirname(project), "terminal-"));
  const file = (name: string) => join(folder, name);
  const command = ["env", "-i", ...assignments(env), world.programs.pi ?? "pi", ...args].map(quote).join(" ");
  const start = `cd ${quote(project)} && echo $$ > ${quote(file("pid"))} && exec ${command}\n`;
  writeFileSync(file("start"), start);
  mkdirSync(file("shell"));
  const terminal = openTerminal(file("shell"), 120, 50);
  terminal.run("sh ../start; echo $? > ../exit");

  const pid = () => Number(read(file("pid")));
  const exitCode = () => (read(file("exit")) === "" ? null : Number(read(file("exit"))));
  const look = async <T>(find: (screen: string) => T, what: string, withinMs = WAIT_MS) => {
    let screen = "";
    const seen = async () => {
      await pause(LOOK_MS);
      screen = terminal.screen();
      return find(screen);
    };
    return await until(seen, what, withinMs).catch((error: Error) => {
      throw new Error(`${error.message}; the screen was:\n${screen}`);
    });
  };
  onTestFinished(async () => {
    // whatever became of the test, its window closes before the project goes
    terminal.keys("C-c", "C-c");
    await until(() => !leftovers(project).includes(pid()), "pi ended", 10_000).catch(() => {});
  });
  const ended = (withinMs = WAIT_MS) => until(exitCode, "pi ended", withinMs);
  const write = async (text: string) => {
    terminal.keys("-l", "--", text);
    await look((screen) => shows(screen, text), `the input box shows ${JSON.stringify(text)}`);
  };

  const submit = async (isTaken: (screen: string) => boolean, what: string) => {
    terminal.keys("Enter");
    let isTooEarly = false;
    await look((screen) => {
      // newer versions take nothing before all is loaded, and say so once
      if (!isTooEarly && /Startup is still in progress/.test(screen)) terminal.keys("Enter");
      isTooEarly = /Startup is still in progress/.test(screen);
      return isTaken(screen);
    }, what);
  };

  await look((screen) => {
    const code = exitCode();
    if (code !== null) throw new Error(`pi ended with ${code}:\n${screen}`);
    return inputBox(screen) !== null && /scripted/.test(screen);
  }, "pi is open");
  return {
    keys: terminal.keys,
    screen: terminal.screen,
    write,
    async type(text) {
      await write(text);
      await submit((screen) => !shows(screen, text), `${JSON.stringify(text)} was taken`);
    },
    submit: (pattern) => submit((screen) => pattern.test(screen), `the screen has ${pattern}`),
    sees: (pattern, withinMs) =>
      look((screen) => (pattern.test(screen) ? screen : null), `the screen has ${pattern}`, withinMs),
    loses: async (pattern, withinMs) => {
      await look((screen) => !pattern.test(screen), `the screen has no ${pattern}`, withinMs);
    },
    pid,
    ended,
    async exit() {
      terminal.keys("C-d");
      return await ended();
    },
  };
}

function assignments(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries({ TERM: "xterm-256color", ...env }).map(([name, value]) => `${name}=${value}`);
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** What is between the last two rules on the screen. */
function inputBox(screen: string): string | null {
  const lines = screen.split("\n");
  // newer versions have a word in it while a turn runs
  const isRule = (line: string) => /^──.*─{10}/.test(line);
  const bottom = lines.findLastIndex(isRule);
  const top = lines.slice(0, Math.max(bottom, 0)).findLastIndex(isRule);
  return top >= 0 ? lines.slice(top + 1, bottom).join("\n") : null;
}

/** The end of the text: a long one is scrolled. */
function shows(screen: string, text: string): boolean {
  const box = inputBox(screen)?.replaceAll(/\s/g, "") ?? "";
  return box.includes(text.replaceAll(/\s/g, "").slice(-60));
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Without a terminal, to its end. */
export function runPi(
  { world, env, project }: PiWorld,
  ...args: string[]
): Promise<{ code: number | null; stdout: string }> {
  return new Promise((resolve) => {
    const child = execFile(world.programs.pi ?? "pi", args, { env, cwd: project }, (_error, stdout) =>
      resolve({ code: child.exitCode, stdout }),
    );
    child.stdin?.end();
  });
}
