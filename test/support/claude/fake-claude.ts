/**
 * A person's machine with a `claude` on it that knows plugins and nothing else: it keeps what it was told in a file,
 * and every call in another. The real one is in `plugin-real.test.ts`.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { Io } from "../../../src/cli/io.ts";

export interface Machine {
  readonly home: string;
  readonly config: string;
  readonly project: string;
  readonly bin: string;
  /** What the client was called with so far. */
  calls(): readonly string[];
}

export interface FakeClaude {
  readonly version?: string;
  /** What its list says of plugins that are there already. */
  readonly plugins?: readonly object[];
  readonly marketplaces?: readonly object[];
}

/** `null`: no claude on the PATH. Names need care: spaces and both kinds of quotes. */
export function makeMachine(claude: FakeClaude | null = {}): Machine {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'loop it\'s "so" ')));
  const [home, config, project, bin] = ["home", "config", "my project", "bin"].map((name) =>
    join(base, name),
  ) as [string, string, string, string];
  for (const folder of [home, config, project, bin]) mkdirSync(folder);
  if (claude !== null) writeClaude(bin, config, claude);
  vi.stubEnv("PATH", [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(":"));
  vi.stubEnv("HOME", home);
  vi.stubEnv("CLAUDE_CONFIG_DIR", config);
  for (const name of ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"])
    vi.stubEnv(name, undefined);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(base, { recursive: true, force: true });
  });
  const calls = () => readLines(join(config, "calls"));
  return { home, config, project, bin, calls };
}

function writeClaude(bin: string, config: string, { version = "2.1.325", ...known }: FakeClaude): void {
  const state = { plugins: known.plugins ?? [], marketplaces: known.marketplaces ?? [] };
  writeFileSync(join(config, "state.json"), JSON.stringify(state));
  writeFileSync(join(bin, "claude"), `#!${process.execPath}\n${PROGRAM.replace("VERSION", version)}`);
  chmodSync(join(bin, "claude"), 0o755);
}

const PROGRAM = `
const fs = require("node:fs");
const config = process.env.CLAUDE_CONFIG_DIR;
const words = process.argv.slice(2);
if (words[0] === "--version") { console.log("VERSION (Claude Code)"); process.exit(0); }
fs.appendFileSync(config + "/calls", words.join(" ") + "\\n");
const state = JSON.parse(fs.readFileSync(config + "/state.json", "utf8"));
const [, ...act] = words;
const scope = act[act.indexOf("--scope") + 1];
const project = scope === "project" ? { projectPath: process.cwd() } : {};
const isOurs = (each) => each.id === "loopwright@loopwright" && each.scope === scope &&
  (scope !== "project" || each.projectPath === process.cwd());
if (act[0] === "list") console.log(JSON.stringify(state.plugins));
else if (act[0] === "marketplace" && act[1] === "list") console.log(JSON.stringify(state.marketplaces));
else if (act[0] === "marketplace" && act[1] === "add")
  state.marketplaces = [{ name: "loopwright", source: "directory", path: act[2] }];
else if (act[0] === "marketplace" && act[1] === "remove") state.marketplaces = [];
else if (act[0] === "install") state.plugins.push({ id: act[1], scope, enabled: true, installPath: "/nowhere",
  readFromFolder: state.marketplaces[0].path + "/claude-code", ...project });
else if (act[0] === "enable") for (const each of state.plugins.filter(isOurs)) each.enabled = true;
else if (act[0] === "uninstall") state.plugins = state.plugins.filter((each) => !isOurs(each));
else if (act[0] !== "update") { console.error("fake claude: " + act.join(" ")); process.exit(1); }
fs.writeFileSync(config + "/state.json", JSON.stringify(state));
`;

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

export interface Heard extends Io {
  readonly text: () => string;
  readonly parsed: () => unknown;
}

/** What a command prints as its answer. */
export function listen(): Heard {
  const said: string[] = [];
  const values: unknown[] = [];
  return {
    out: (text) => said.push(text),
    say: () => {},
    json: (value) => values.push(value),
    divert: () => () => {},
    interactive: false,
    colour: false,
    text: () => said.join("\n"),
    parsed: () => values.at(-1),
  };
}
