/**
 * `loop doctor`: examines everything that a loop needs and says how to fix problems (F8). Changes nothing. The exit
 * code is 1 when something is broken.
 *
 * JSON: `{ version: 1, ok, findings: [{ check, state: "ok" | "note" | "broken", text, fix }] }`.
 */
import { runVersion } from "../../agents/capabilities/program-version.ts";
import { count } from "../../core/text/figures.ts";
import { FOUND_BY } from "../../core/text/goal/receipt.ts";
import { isOlder } from "../../hosts/claude-code/install/client-version.ts";
import { examineClient } from "../../hosts/claude-code/install/examine.ts";
import { broken, type Finding, note, ok } from "../../hosts/conversation/finding.ts";
import { examineClients } from "../../hosts/stop-hook/install/examine.ts";
import { lookForProgram } from "../../system/find-program.ts";
import { foundByHere } from "../../system/seal.ts";
import { VERSION } from "../../version.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io, paint, type Style } from "../io.ts";
import type { ProjectFlags } from "../project.ts";
import { oneLine } from "../render/table.ts";
import { examineProject } from "./doctor-project.ts";
import { projectFolder } from "./install.ts";
import { aroundOf } from "./install-client.ts";

const OLDEST_NODE = "20.19";
const ANSWER_WITHIN_MS = 10_000;

export async function doctorCommand(flags: ProjectFlags, io: Io): Promise<number> {
  const project = projectFolder(flags);
  const { env } = process;
  const findings = [
    await examineNode(env, project),
    examineGit(env, project),
    examineProcesses(),
    ...(await examineClient({ project, env, version: VERSION })),
    ...examineClients(aroundOf(project)),
    ...examineProject(project, Date.now()),
    ...examineEnvironment(env),
  ];
  const isOk = findings.every(({ state }) => state !== "broken");
  answer(flags, io, { version: 1, ok: isOk, findings }, renderFindings(findings, io));
  return isOk ? EXIT.ok : EXIT.failure;
}

/** The plugin starts the `node` of the PATH, which may differ from the one that runs this command. */
async function examineNode(env: NodeJS.ProcessEnv, project: string): Promise<Finding> {
  const isWindows = process.platform === "win32";
  const { path, reason } = isWindows
    ? { path: process.execPath, reason: "" }
    : lookForProgram("node", env, project);
  if (path === null)
    return broken("node", `${reason}, where the plugin looks for it`, "Add Node to the PATH.");
  const isThis = path === process.execPath;
  const version = isThis
    ? process.versions.node
    : (await runVersion(path, ["--version"], env, ANSWER_WITHIN_MS)).version;
  if (version === null)
    return broken("node", `${path} --version did not answer`, `Install Node ${OLDEST_NODE} or newer.`);
  if (isOlder(version, OLDEST_NODE))
    return broken("node", `${version} is too old (${path})`, `Install Node ${OLDEST_NODE} or newer.`);
  return ok("node", `${version} (${path})`);
}

function examineGit(env: NodeJS.ProcessEnv, project: string): Finding {
  if (process.platform === "win32") return ok("git", "not checked on Windows");
  const { path, reason } = lookForProgram("git", env, project);
  return path === null
    ? note("git", `${reason}, so there are no checkpoints and no rollback`, "Install git.")
    : ok("git", path);
}

/** Can a turn leave a process behind? */
function examineProcesses(): Finding {
  const foundBy = foundByHere();
  const text = `the processes of a turn are ${FOUND_BY[foundBy]}`;
  return foundBy === "seal" ? ok("processes", text) : note("processes", text, null);
}

function examineEnvironment(env: NodeJS.ProcessEnv): readonly Finding[] {
  if (env.LOOP_DISABLE_SCHEDULER !== "1") return [];
  return [
    note("environment", "LOOP_DISABLE_SCHEDULER=1 is set, so nothing fires", "unset LOOP_DISABLE_SCHEDULER"),
  ];
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
  const inState = (state: Finding["state"]) => findings.filter((each) => each.state === state).length;
  const [faults, notes] = [inState("broken"), inState("note")];
  const end =
    faults > 0
      ? `Found ${count(faults, "problem")}. Fix what is marked ✗.`
      : notes > 0
        ? `Loops can run. See ${count(notes, "note")} above.`
        : "Everything is fine.";
  return [...lines, end].join("\n");
}
