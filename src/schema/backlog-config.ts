/**
 * The settings for backlogs in `.loop/config.json` (C2). The setting `checks` is in `config.ts`. The file may come with
 * a repository, so its `agentCmd` runs only after a person trusted exactly this content (H2).
 */
import * as z from "zod";
import type { Mode, ScopeBudget } from "../core/backlog/backlog.ts";
import type { AgentSpec } from "../core/goal/goal.ts";
import { agentChoice } from "./agent-name.ts";
import { faultOf, type Invalid, renderFault } from "./fault.ts";

export const CONFIG_MODES = ["explore", "implement", "fix"] as const satisfies readonly Mode[];

export const ROLES = ["generator", "evaluator", "planner"] as const;

export type AgentRole = (typeof ROLES)[number];

/** The defaults, in the form in which a person writes them. */
export const BACKLOG_DEFAULTS = {
  mode: "implement",
  maxIterations: 20,
  evalRetries: 2,
  skipEval: false,
  branchPrefix: "loop/",
  scopeBudgets: {
    explore: { maxFilesToRead: 15, maxLinesToWrite: 0, maxFilesToModify: 0 },
    implement: { maxFilesToRead: 40, maxLinesToWrite: 800, maxFilesToModify: 20 },
    fix: { maxFilesToRead: 30, maxLinesToWrite: 200, maxFilesToModify: 8 },
  },
} as const satisfies {
  readonly mode: Mode;
  readonly scopeBudgets: Readonly<Record<Mode, ScopeBudget>>;
} & Readonly<Record<string, unknown>>;

const from = (least: number, most: number) => {
  const error = `expected a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
};

const word = z.string().min(1, { error: "it is empty" }).max(200, { error: "it is too long" });
/** One word that is not an option, because the name goes on a command line. */
const model = word.regex(/^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]*$/, {
  error: "expected the name of a model such as opus or claude-sonnet-4-5",
});

const command = z
  .string()
  .max(10_000, { error: "it is too long" })
  .refine((text) => text.trim() !== "", { error: "it is empty" });

const roleSchema = z
  .strictObject({
    agent: agentChoice.optional(),
    agentCmd: command.optional(),
    agentAcp: command.optional(),
    model: model.optional(),
  })
  .superRefine(({ agent, agentCmd, agentAcp }, context) => {
    if ([agent, agentCmd, agentAcp].filter((named) => named !== undefined).length > 1)
      context.addIssue("agent, agentCmd and agentAcp exclude each other");
  });

const depth = z.strictObject({ model: model.optional() }).prefault({});

/** A budget that sets one number keeps the defaults of the other two. */
const budget = (mode: Mode) => {
  const held = BACKLOG_DEFAULTS.scopeBudgets[mode];
  return z
    .strictObject({
      maxFilesToRead: from(0, 1_000_000).default(held.maxFilesToRead),
      maxLinesToWrite: from(0, 1_000_000).default(held.maxLinesToWrite),
      maxFilesToModify: from(0, 1_000_000).default(held.maxFilesToModify),
    })
    .prefault({});
};

/** Git refuses such branch names. The check is here, so that a run does not fail in the middle. */
const BRANCH_FAULT = /[\s~^:?*[\\]|[\p{Cc}]|\.\.|@\{|\/\/|^[-/.]|\/\.|\.lock(?:\/|$)/u;

/** For `z.strictObject({ ...backlogShape, … })`. */
export const backlogShape = {
  mode: z.enum(CONFIG_MODES).default(BACKLOG_DEFAULTS.mode),
  maxIterations: from(1, 1_000).default(BACKLOG_DEFAULTS.maxIterations),
  /** After this many rejections a story is blocked. */
  evalRetries: from(1, 100).default(BACKLOG_DEFAULTS.evalRetries),
  skipEval: z.boolean().default(BACKLOG_DEFAULTS.skipEval),
  branchPrefix: word
    .refine((text) => !BRANCH_FAULT.test(text), {
      error: "expected the start of a branch's name such as loop/",
    })
    .default(BACKLOG_DEFAULTS.branchPrefix),
  scopeBudgets: z
    .strictObject({ explore: budget("explore"), implement: budget("implement"), fix: budget("fix") })
    .prefault({}),
  agents: z
    .strictObject({
      generator: roleSchema.prefault({}),
      evaluator: roleSchema.prefault({}),
      planner: roleSchema.prefault({}),
    })
    .prefault({}),
  /** The model for stories of each depth. */
  depths: z.strictObject({ quick: depth, standard: depth, thorough: depth }).prefault({}),
};

/** Ignores other keys; `config.ts` checks them. */
export const backlogConfigSchema = z.object(backlogShape);

export type BacklogConfig = z.output<typeof backlogConfigSchema>;

export function parseBacklogConfig(
  content: unknown,
): { readonly kind: "ok"; readonly config: BacklogConfig } | Invalid {
  const result = backlogConfigSchema.safeParse(content, { error: faultOf });
  if (result.success) return { kind: "ok", config: result.data };
  return { kind: "invalid", message: renderFault(result.error) };
}

/** The commands that the file runs besides its checks. `loop trust` shows them. */
export function commandsOfRoles({
  agents,
}: Pick<BacklogConfig, "agents">): readonly { readonly name: string; readonly command: string }[] {
  return ROLES.flatMap((role) => {
    const command = agents[role].agentCmd ?? agents[role].agentAcp;
    return command === undefined ? [] : { name: `agents.${role}`, command };
  });
}

/** null: the file does not set the agent. */
export function agentOfRole(role: BacklogConfig["agents"][AgentRole]): AgentSpec | null {
  const { agent, agentCmd, agentAcp } = role;
  if (agentCmd !== undefined) return { kind: "command", command: agentCmd };
  if (agentAcp !== undefined) return { kind: "acp", command: agentAcp };
  return agent ?? null;
}
