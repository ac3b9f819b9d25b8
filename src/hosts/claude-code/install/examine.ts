/** Checks whether Claude Code is ready for loops. Starts the client to ask it; writes nothing. */
import { LoopError } from "../../../errors.ts";
import { broken, type Finding, note, ok, TWO_STOP_HOOKS } from "../../conversation/finding.ts";
import { capOf } from "../hooks/block-cap.ts";
import { clientVersion, type InstalledPlugin, lookForClient, PluginClient } from "./client.ts";
import {
  type ClientSettings,
  capIn,
  hooksTurnedOff,
  readClientSettings,
  type StopHook,
  stopHooksIn,
  stopHooksOfPlugin,
} from "./client-settings.ts";
import { judgeVersion } from "./client-version.ts";
import { PLUGIN_ID, placesOf } from "./places.ts";
import { isSameFolder, readPlugin } from "./plugin-folder.ts";

const INSTALL = "loop install claude";
const MOST_NAMED = 5;

interface ClientSurroundings {
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** The version of this program. */
  readonly version: string;
}

export async function examineClient(around: ClientSurroundings): Promise<readonly Finding[]> {
  const { project, env } = around;
  const settings = readClientSettings(placesOf(env).config, project);
  const { path: claude, reason } = lookForClient(env);
  if (claude === null)
    return [
      note("claude", `${reason}; loops use other agents`, "Install Claude Code."),
      ...examineSettings(settings, env, []),
    ];
  const word = judgeVersion(await clientVersion(claude, env));
  const fix = word.state === "ok" ? null : "Update it: claude update";
  const client: Finding = { check: "claude", state: word.state, text: `${word.text} (${claude})`, fix };
  try {
    const plugins = await new PluginClient(claude, env).plugins(project);
    const active = plugins.filter((each) => each.enabled && appliesTo(each, project));
    return [client, ...examinePlugin(plugins, around), ...examineSettings(settings, env, active)];
  } catch (error) {
    if (!(error instanceof LoopError)) throw error;
    return [
      client,
      broken("plugin", error.message, "See: claude plugin list"),
      ...examineSettings(settings, env, []),
    ];
  }
}

function examinePlugin(all: readonly InstalledPlugin[], { project, version }: ClientSurroundings): Finding[] {
  const ours = all.filter((each) => each.id === PLUGIN_ID && appliesTo(each, project));
  if (ours.length === 0) return [note("plugin", "is not installed in Claude Code", INSTALL)];
  const active = ours.find(({ enabled }) => enabled);
  if (active === undefined)
    return [note("plugin", "is installed and turned off", `claude plugin enable ${PLUGIN_ID}`)];
  const { version: found, wrong } = readPlugin(active.folder);
  if (found === null) return [broken("plugin", `${active.folder} contains no plugin`, INSTALL)];
  const findings: Finding[] = [];
  if (wrong.length > 0)
    findings.push(
      broken("plugin", `${active.folder} has missing or changed files: ${named(wrong)}`, INSTALL),
    );
  if (found !== version)
    findings.push(broken("plugin", `has version ${found}, but this program has ${version}`, INSTALL));
  return findings.length > 0 ? findings : [ok("plugin", `${found}, ${active.scope} (${active.folder})`)];
}

function examineSettings(
  settings: ClientSettings,
  env: NodeJS.ProcessEnv,
  plugins: readonly InstalledPlugin[],
): Finding[] {
  const off = hooksTurnedOff(settings);
  return [
    ...settings.problems.map((problem) => broken("settings", problem, "Correct the file.")),
    ...(off === null
      ? []
      : [broken("hooks", `are turned off: disableAllHooks in ${off}`, "Remove that line.")]),
    ...examineStopHooks(settings, plugins),
    examineCap(settings, env),
  ];
}

/** D13: other stop hooks are listed and never changed. */
function examineStopHooks(settings: ClientSettings, plugins: readonly InstalledPlugin[]): Finding[] {
  const others = plugins.filter(({ id }) => id !== PLUGIN_ID);
  const found: readonly StopHook[] = [
    ...stopHooksIn(settings),
    ...others.flatMap(({ folder }) => stopHooksOfPlugin(folder)),
  ];
  if (found.length === 0) return [ok("stop hooks", "no other stop hook")];
  return found.map(({ file, what }) =>
    note("stop hooks", `${file} has another stop hook: ${what}`, TWO_STOP_HOOKS),
  );
}

function examineCap(settings: ClientSettings, env: NodeJS.ProcessEnv): Finding {
  const value = capIn(settings) ?? env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP ?? null;
  const cap = capOf({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: value ?? "" });
  if (cap === 0) return ok("stop cap", "none");
  return note(
    "stop cap",
    `Claude Code ends a turn after ${cap} stop-hook answers without a tool call; the loop then wakes the conversation, which does not work with \`claude -p\``,
    `${INSTALL} --cap`,
  );
}

function appliesTo({ project: of }: InstalledPlugin, project: string): boolean {
  return of === null || isSameFolder(of, project);
}

function named(files: readonly string[]): string {
  const rest = files.length - MOST_NAMED;
  return files.slice(0, MOST_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
