/**
 * `loop install codex|gemini|cursor|opencode|copilot`: adds hooks to the client's settings, and a command to type
 * there. Repeating it changes nothing. `loop uninstall` removes what was added, and nothing else.
 *
 * JSON: `{ version: 1, client, scope, dryRun, program: { folder, copied } | null, files: [{ file, change }], kept, notes }`,
 * where `change` is "made", "changed" or "removed"; of `uninstall`:
 * `{ version: 1, client, removed: [what], kept: [what and why] }`.
 */
import { CLIENT_NAMES, type ClientName } from "../../hosts/stop-hook/clients/client.ts";
import { CLIENTS } from "../../hosts/stop-hook/clients/clients.ts";
import {
  type Around,
  isInstalled,
  type PlannedChange,
  planInstall,
  planUninstall,
} from "../../hosts/stop-hook/install/plan.ts";
import {
  isProgramCurrent,
  programFolder,
  putProgram,
  removeProgram,
} from "../../hosts/stop-hook/install/program.ts";
import { type InstallScope, TARGETS } from "../../hosts/stop-hook/install/targets.ts";
import { undoChanges, writeChange } from "../../hosts/stop-hook/install/write.ts";
import { answer, type Io } from "../io.ts";
import { renderTextDiff } from "../render/text-diff.ts";

interface ClientInstallFlags {
  readonly json?: boolean;
  readonly dryRun?: boolean;
}

export function installClient(
  client: ClientName,
  scope: InstallScope,
  project: string,
  flags: ClientInstallFlags,
  io: Io,
): number {
  const around = aroundOf(project);
  // First: unreadable files are reported before anything is written.
  const { changes, kept } = planInstall(client, scope, around);
  const copied = scope === "user" && !isProgramCurrent(around.program);
  if (!flags.dryRun) {
    if (copied) putProgram(around.program);
    for (const change of changes) writeChange(change, scope === "project" ? project : null, around.env);
  }
  const program = scope === "user" ? { folder: around.program, copied } : null;
  const notes = [
    ...kept.map((file) => `${file} is not from Loopwright and was not changed.`),
    ...TARGETS[client].afterwards,
  ];
  const dryRun = flags.dryRun === true;
  const files = changes.map(({ file, ...change }) => ({ file, change: targetKindOf(change) }));
  const text = (dryRun ? renderDry : renderDone)(client, scope, { changes, program, notes });
  return answer(flags, io, { version: 1, client, scope, dryRun, program, files, kept, notes }, text);
}

/** `scope` null: both. */
export function uninstallClient(
  client: ClientName,
  scope: InstallScope | null,
  project: string,
  flags: ClientInstallFlags,
  io: Io,
): number {
  const around = aroundOf(project);
  const scopes: readonly InstallScope[] = scope === null ? ["user", "project"] : [scope];
  const plans = scopes.map((each) => ({ scope: each, plan: planUninstall(client, each, around) }));
  const removed = plans.flatMap(({ plan }) =>
    plan.changes.map((change) =>
      targetKindOf(change) === "removed" ? change.file : `the hooks of Loopwright in ${change.file}`,
    ),
  );
  const kept = plans.flatMap(({ plan }) => plan.kept.map((file) => `${file}, which is not from Loopwright`));
  if (!flags.dryRun) {
    for (const { scope: each, plan } of plans)
      undoChanges(plan.changes, each === "project" ? project : null, around.env);
    if (removed.length > 0 && !isUsed(around)) {
      removeProgram(around.program);
      removed.push(around.program);
    }
  }
  const text = renderUninstalled(CLIENTS[client].title, { removed, kept }, flags.dryRun);
  return answer(flags, io, { version: 1, client, removed, kept }, text);
}

/** True if user hooks of any client still start the program. An unreadable file may have such hooks. */
function isUsed(around: Around): boolean {
  return CLIENT_NAMES.some((client) => {
    try {
      return isInstalled(client, "user", around);
    } catch {
      return true;
    }
  });
}

export function renderUninstalled(
  title: string,
  { removed, kept }: { readonly removed: readonly string[]; readonly kept: readonly string[] },
  dryRun = false,
): string {
  const lines = removed.map((what) => `${dryRun ? "Would remove" : "Removed"}: ${what}`);
  if (removed.length === 0)
    lines.push(
      kept.length === 0 ? `Loopwright is not installed in ${title}.` : "There is nothing to remove.",
    );
  lines.push(...kept.map((what) => `Kept: ${what}`));
  if (removed.length > 0)
    lines.push("Open conversations keep it until they end. The `.loop/` folders of your projects stay.");
  return lines.join("\n");
}

export function aroundOf(project: string): Around {
  return { project, env: process.env, program: programFolder(process.env) };
}

function targetKindOf({ before, after }: Pick<PlannedChange, "before" | "after">): string {
  return before === null ? "made" : after === null ? "removed" : "changed";
}

interface Done {
  readonly changes: readonly PlannedChange[];
  readonly program: { readonly folder: string; readonly copied: boolean } | null;
  readonly notes: readonly string[];
}

function renderDone(client: ClientName, scope: InstallScope, { changes, program, notes }: Done): string {
  const { title, commandName } = CLIENTS[client];
  const whom = scope === "user" ? "you, in all projects" : "this project";
  if (changes.length === 0 && program?.copied !== true)
    return [`Loopwright is already installed in ${title} for ${whom}.`, ...notes].join("\n");
  return [
    ...(program?.copied ? [`Copied the program for the hooks to ${program.folder}`] : []),
    ...changes.map((change) => `${targetKindOf(change) === "made" ? "Created" : "Changed"} ${change.file}`),
    `Installed in ${title} for ${whom}. It works in new conversations.`,
    ...(scope === "project" ? ["Other people who work on this project need `loop` on their PATH."] : []),
    ...notes,
    `Type in ${title}: ${commandName} help    Check: loop doctor    Undo: loop uninstall ${client}`,
  ].join("\n");
}

function renderDry(client: ClientName, _scope: InstallScope, { changes, program, notes }: Done): string {
  if (changes.length === 0 && program?.copied !== true) return "Nothing would change.";
  return [
    ...(program?.copied ? [`Would copy the program for the hooks to ${program.folder}`] : []),
    ...changes.flatMap((change) => [
      `Would ${targetKindOf(change) === "made" ? "create" : "change"} ${change.file}:`,
      ...renderTextDiff(change.before ?? "", change.after ?? "").map((line) => `  ${line}`),
    ]),
    ...notes,
    `To make these changes: loop install ${client}`,
  ].join("\n");
}
