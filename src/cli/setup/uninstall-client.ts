/**
 * `loop uninstall codex|gemini|cursor|opencode|copilot`: removes what `loop install` added, and nothing else.
 *
 * JSON: `{ version: 1, client, removed: [what], kept: [what and why] }`.
 */
import { CLIENT_NAMES, type ClientName } from "../../hosts/stop-hook/clients/client.ts";
import { CLIENTS } from "../../hosts/stop-hook/clients/clients.ts";
import { type Around, isInstalled, planUninstall } from "../../hosts/stop-hook/install/plan.ts";
import { removeProgram } from "../../hosts/stop-hook/install/program.ts";
import type { InstallScope } from "../../hosts/stop-hook/install/targets.ts";
import { undoChanges } from "../../hosts/stop-hook/install/write.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { aroundOf, type ClientInstallFlags, renderUninstalled, targetKindOf } from "./install-client.ts";

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
  if (flags.json) io.json({ version: 1, client, removed, kept });
  else io.out(renderUninstalled(CLIENTS[client].title, { removed, kept }, flags.dryRun));
  return EXIT.ok;
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
