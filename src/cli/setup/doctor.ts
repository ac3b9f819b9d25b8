/**
 * `loop doctor`: looks at everything that a loop needs, says what it found and what to do about it (F8). Changes
 * nothing. Exit 1 when something is broken.
 *
 * JSON: `{ version: 1, ok, findings: [{ check, state: "ok" | "note" | "broken", text, fix }] }`.
 */
import { runVersion } from "../../agents/capabilities/program-version.ts";
import { findExecutable } from "../../agents/find.ts";
import { isOlder } from "../../hosts/claude-code/install/client-version.ts";
import { examineClient } from "../../hosts/claude-code/install/examine.ts";
import { broken, type Finding, note, ok } from "../../hosts/conversation/finding.ts";
import { examineClients } from "../../hosts/stop-hook/install/examine.ts";
import { VERSION } from "../../version.ts";
import { EXIT } from "../exit-codes.ts";
import { type Io, paint, type Style } from "../io.ts";
import type { ProjectFlags } from "../project.ts";
import { oneLine } from "../render/table.ts";
import { examineProject } from "./doctor-project.ts";
import { projectFolder } from "./install.ts";
import { aroundOf } from "./install-client.ts";

const OLDEST_NODE = "20.19";
const ANSWER_WITHIN_MS = 10_000;

export interface DoctorFlags extends ProjectFlags {
  readonly json?: boolean;
}

export async function doctorCommand(flags: DoctorFlags, io: Io): Promise<number> {
  const project = projectFolder(flags);
  const { env } = process;
  const findings = [
    await examineNode(env),
    examineGit(env),
    ...(await examineClient({ project, env, version: VERSION })),
    ...examineClients(aroundOf(project)),
    ...examineProject(project, Date.now()),
    ...examineEnvironment(env),
  ];
  const isOk = findings.every(({ state }) => state !== "broken");
  if (flags.json) io.json({ version: 1, ok: isOk, findings });
  else io.out(renderFindings(findings, io));
  return isOk ? EXIT.ok : EXIT.failure;
}

/** Hooks and servers of the plugin start what the PATH calls node, which need not be what runs this. */
async function examineNode(env: NodeJS.ProcessEnv): Promise<Finding> {
  const path = process.platform === "win32" ? process.execPath : findExecutable("node", env);
  if (path === null)
    return broken("node", "is not on the PATH, and the plugin starts it from there", "Put Node on the PATH.");
  const isThis = path === process.execPath;
  const version = isThis
    ? process.versions.node
    : (await runVersion(path, ["--version"], env, ANSWER_WITHIN_MS)).version;
  if (version === null)
    return broken("node", `${path} did not tell its version`, `Install Node ${OLDEST_NODE} or newer.`);
  if (isOlder(version, OLDEST_NODE))
    return broken("node", `${version} is too old (${path})`, `Install Node ${OLDEST_NODE} or newer.`);
  return ok("node", `${version} (${path})`);
}

function examineGit(env: NodeJS.ProcessEnv): Finding {
  if (process.platform === "win32") return ok("git", "not looked for on Windows");
  const path = findExecutable("git", env);
  return path === null
    ? note("git", "is not on the PATH: no checkpoints, no rollback", "Install git.")
    : ok("git", path);
}

function examineEnvironment(env: NodeJS.ProcessEnv): readonly Finding[] {
  if (env.LOOP_DISABLE_SCHEDULER !== "1") return [];
  return [note("environment", "LOOP_DISABLE_SCHEDULER=1: nothing fires", "unset LOOP_DISABLE_SCHEDULER")];
}

const SIGNS: Record<Finding["state"], readonly [string, Style]> = {
  ok: ["✓", "green"],
  note: ["!", "yellow"],
  broken: ["✗", "red"],
};

export function renderFindings(findings: readonly Finding[], io: Pick<Io, "colour">): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, state, text, fix }) => {
    const [sign, style] = SIGNS[state];
    const line = `${paint(io, style, sign)} ${check.padEnd(width)}  ${oneLine(text)}`;
    return fix === null ? [line] : [line, `${" ".repeat(width + 4)}${paint(io, "dim", oneLine(fix))}`];
  });
  const count = (state: Finding["state"]) => findings.filter((each) => each.state === state).length;
  const [faults, notes] = [count("broken"), count("note")];
  const end =
    faults > 0
      ? `${faults === 1 ? "1 thing is" : `${faults} things are`} broken.`
      : notes > 0
        ? `Loops can run; ${notes === 1 ? "1 note" : `${notes} notes`} above.`
        : "All is well.";
  return [...lines, end].join("\n");
}
