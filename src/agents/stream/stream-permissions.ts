/**
 * What an agent may do in a turn that nobody watches, as far as one can say it before the turn: such an agent is told
 * what is allowed when it is started, and whatever it would have to ask for it does not get.
 */
import type { PermissionRule, PermissionRules } from "../../core/permissions.ts";
import type { Turn } from "../../ports/agent.ts";

export interface TurnPermissions {
  /** It may write to the files of the project. */
  readonly edits: boolean;
  /** `all`, or commands as globs, with those after them that are not allowed in spite of it. */
  readonly commands: "all" | readonly CommandPermission[];
  /** It runs no command at all. */
  readonly isMute: boolean;
}

export interface CommandPermission {
  readonly glob: string;
  readonly isAllowed: boolean;
}

/** null: a turn of a task, for which the person's own configuration of the agent counts. */
export function permissionsFor(
  { env, commands = [] }: Pick<Turn, "env" | "commands">,
  rules: PermissionRules = {},
): TurnPermissions | null {
  const role = env.LOOP_ROLE;
  if (role === undefined && rules.edit === undefined && rules.execute === undefined) return null;
  const works = role === "generator";
  const checks = works ? commands.map((glob) => ({ glob, isAllowed: true })) : [];
  const ruled = commandsOf(rules.execute);
  return {
    edits: rules.edit === undefined || typeof rules.edit !== "string" ? works : rules.edit === "allow",
    commands: ruled === "all" ? "all" : [...checks, ...ruled].filter(({ glob }) => isLine(glob)),
    isMute: rules.execute === "deny" || (!works && ruled !== "all" && !ruled.some((one) => one.isAllowed)),
  };
}

function commandsOf(rule: PermissionRule | undefined): "all" | readonly CommandPermission[] {
  if (rule === undefined || typeof rule === "string") return rule === "allow" ? "all" : [];
  return Object.entries(rule).map(([glob, answer]) => ({ glob, isAllowed: answer === "allow" }));
}

/** What has several lines is no command that an agent could be told by a pattern. */
function isLine(glob: string): boolean {
  return glob.trim() !== "" && !/[\n\r]/.test(glob);
}
