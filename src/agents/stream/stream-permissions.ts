/** What an agent may do in a turn that nobody watches. Everything that would need a question is denied. */
import type { PermissionRule, PermissionRules } from "../../core/permissions.ts";
import type { Turn } from "../../ports/agent.ts";

export interface TurnPermissions {
  readonly edits: boolean;
  /** `all`, or globs of commands. A later glob may deny what an earlier one allows. */
  readonly commands: "all" | readonly CommandPermission[];
  /** It must not run any command. */
  readonly isMute: boolean;
}

export interface CommandPermission {
  readonly glob: string;
  readonly isAllowed: boolean;
}

/** null: a turn of a task, where the person's own configuration of the agent applies. */
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

/** A pattern cannot describe a command of several lines. */
function isLine(glob: string): boolean {
  return glob.trim() !== "" && !/[\n\r]/.test(glob);
}
