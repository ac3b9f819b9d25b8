/** Checks the installed hooks of other clients. Only reads; starts and writes nothing. */
import { join } from "node:path";
import { tidyLine } from "../../../core/claims/tidy.ts";
import { LoopError } from "../../../errors.ts";
import { readAnyones } from "../../../system/files.ts";
import { findProgram } from "../../../system/find-program.ts";
import { parseJsonc, toValue } from "../../../system/jsonc/tree.ts";
import { isFields } from "../../conversation/fields.ts";
import { broken, type Finding, note, ok, TWO_STOP_HOOKS } from "../../conversation/finding.ts";
import { CLIENT_NAMES, type ClientName } from "../clients/client.ts";
import { foreignItems } from "./hook-lists.ts";
import { type Around, isInstalled, planInstall } from "./plan.ts";
import { brokenFiles, isProgramCurrent } from "./program.ts";
import { type InstallScope, isOwnItem, TARGETS } from "./targets.ts";

const MOST_SHOWN = 160;
const NEEDS_LOOP = "npm install -g loopwright";

/** Reports nothing about clients without our hooks. */
export function examineClients(around: Around): readonly Finding[] {
  return CLIENT_NAMES.flatMap((client) => examine(client, around));
}

function examine(client: ClientName, around: Around): readonly Finding[] {
  const scopes: readonly InstallScope[] = ["user", "project"];
  try {
    const found = scopes.filter((scope) => isInstalled(client, scope, around));
    if (found.length === 0) return [];
    return [
      ...found.map((scope) => examineScope(client, scope, around)),
      ...(found.length === 2
        ? [
            note(
              client,
              "the hooks are installed for you and for this project, so both run",
              `loop uninstall ${client} --scope project`,
            ),
          ]
        : []),
      ...scopes.flatMap((scope) => examineOthers(client, scope, around)),
      ...(client === "codex" ? examineCodex(around) : []),
      ...(client === "gemini" ? examineGemini(around) : []),
    ];
  } catch (error) {
    if (!(error instanceof LoopError)) throw error;
    return [broken(client, error.message, error.hint ?? "Correct the file.")];
  }
}

function examineScope(client: ClientName, scope: InstallScope, around: Around): Finding {
  const install = `loop install ${client}${scope === "project" ? " --scope project" : ""}`;
  if (planInstall(client, scope, around).changes.length > 0)
    return broken(client, `the hooks (${scope}) are from another version`, install);
  if (scope === "project")
    return findProgram("loop", around.env) === null
      ? note(client, "the project's hooks start `loop`, but it is not on the PATH", NEEDS_LOOP)
      : ok(client, "hooks of this project");
  const [wrong] = brokenFiles(around.program);
  if (wrong !== undefined)
    return broken(
      client,
      `a file of the hook program is missing or was changed: ${join(around.program, wrong)}`,
      install,
    );
  if (!isProgramCurrent(around.program))
    return broken(client, "the hook program is from another version", install);
  return ok(client, `hooks for you (${around.program})`);
}

/** D13: other stop hooks are listed and never changed. */
function examineOthers(
  client: ClientName,
  scope: InstallScope,
  { project, env }: Around,
): readonly Finding[] {
  const { hooks, folder } = TARGETS[client];
  if (hooks === undefined || hooks.isOwn) return [];
  const file = join(folder(scope, project, env), hooks.path);
  const text = readAnyones(file);
  if (text === null) return [];
  return foreignItems(text, hooks.stop, isOwnItem(client)).map((item) =>
    note(
      client,
      `${file} has another stop hook: ${tidyLine(JSON.stringify(item), MOST_SHOWN)}`,
      TWO_STOP_HOOKS,
    ),
  );
}

/** Codex stores the trusted hooks in its config, by file and position. */
function examineCodex({ project, env }: Around): readonly Finding[] {
  const own = TARGETS.codex.folder("user", project, env);
  const config = readAnyones(join(own, "config.toml")) ?? "";
  if (/^\s*(?:codex_)?hooks\s*=\s*false\b/m.test(config))
    return [broken("codex", "hooks are turned off in its config.toml", "Remove the line: hooks = false")];
  const isTrusted = /^\[hooks\.state\."[^"\n]*hooks\.json:stop:/m.test(config);
  return isTrusted ? [] : [note("codex", "runs only hooks that you trust", "Start codex and type /hooks")];
}

function examineGemini({ project, env }: Around): readonly Finding[] {
  return (["user", "project"] as const).flatMap((scope) => {
    const file = join(TARGETS.gemini.folder(scope, project, env), "settings.json");
    const text = readAnyones(file);
    const settings = text === null ? null : toValue(parseJsonc(text));
    const config = isFields(settings) && isFields(settings.hooksConfig) ? settings.hooksConfig : {};
    const disabled = Array.isArray(config.disabled) ? config.disabled : [];
    const isOff = config.enabled === false || disabled.some((name) => /^loopwright-/.test(String(name)));
    return isOff
      ? [broken("gemini", `hooks are turned off in ${file}`, "Change hooksConfig in that file.")]
      : [];
  });
}
