/**
 * The backlog's keys of `.loop/config.json` (C2). `checks` stands beside them in `config.ts`. An `agentCmd` comes from
 * a file that a repository may have brought along: it runs only when a person trusted this very content (H2).
 */
import * as z from "zod";
import type { Mode, ScopeBudget } from "../core/backlog/backlog.ts";
import type { AgentSpec } from "../core/goal/terms.ts";
import { agentChoice } from "./agent-name.ts";

export const CONFIG_MODES = ["explore", "implement", "fix"] as const satisfies readonly Mode[];

export const ROLES = ["generator", "evaluator", "planner"] as const;

export type AgentRole = (typeof ROLES)[number];

/** What holds where the file says nothing, as one would write it there. */
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
/** Neither an option nor more than one word: models are named on command lines. */
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

/** A budget that names one figure keeps the other two. */
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

/** git names no branch so; a prefix that it would refuse is found here and not in the middle of a run. */
const BRANCH_FAULT = /[\s~^:?*[\\]|[\p{Cc}]|\.\.|@\{|\/\/|^[-/.]|\/\.|\.lock(?:\/|$)/u;

/** For `z.strictObject({ ...backlogShape, … })`. */
export const backlogShape = {
  mode: z.enum(CONFIG_MODES).default(BACKLOG_DEFAULTS.mode),
  maxIterations: from(1, 1_000).default(BACKLOG_DEFAULTS.maxIterations),
  /** A story that was rejected so often is blocked. */
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
  /** What a story of each depth is worked on with. */
  depths: z.strictObject({ quick: depth, standard: depth, thorough: depth }).prefault({}),
};

export const BACKLOG_KEYS = Object.keys(backlogShape) as readonly (keyof typeof backlogShape)[];

/** Other keys are for `config.ts` to judge. */
export const backlogConfigSchema = z.object(backlogShape);

export type BacklogConfig = z.output<typeof backlogConfigSchema>;

/** The message is a sentence without its full stop that begins with the place: `scopeBudgets.fix.maxFilesToRead: …`. */
export type BacklogConfigResult =
  | { readonly kind: "ok"; readonly config: BacklogConfig }
  | { readonly kind: "invalid"; readonly message: string };

export function parseBacklogConfig(content: unknown): BacklogConfigResult {
  const result = backlogConfigSchema.safeParse(content, { error: faultOf });
  if (result.success) return { kind: "ok", config: result.data };
  const issue = result.error.issues[0];
  const where = (issue?.path ?? []).map(String).join(".");
  const message = issue?.message ?? "it is not valid";
  return { kind: "invalid", message: where === "" ? message : `${where}: ${message}` };
}

export function defaultBacklogConfig(): BacklogConfig {
  return backlogConfigSchema.parse({});
}

/** What the file would run besides its checks, for `loop trust` to show. */
export function commandsOfRoles({
  agents,
}: Pick<BacklogConfig, "agents">): readonly { readonly name: string; readonly command: string }[] {
  return ROLES.flatMap((role) => {
    const command = agents[role].agentCmd ?? agents[role].agentAcp;
    return command === undefined ? [] : { name: `agents.${role}`, command };
  });
}

/** null: the file says nothing of it. */
export function agentOfRole({
  agent,
  agentCmd,
  agentAcp,
}: BacklogConfig["agents"][AgentRole]): AgentSpec | null {
  if (agentCmd !== undefined) return { kind: "command", command: agentCmd };
  if (agentAcp !== undefined) return { kind: "acp", command: agentAcp };
  return agent ?? null;
}

/** Half a sentence for what zod found; what the schema itself says of a fault comes before this. */
function faultOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${EXPECTED[issue.expected] ?? issue.expected}, found ${nameOf(issue.input)}`;
    case "invalid_value":
      return `expected ${issue.values
        .map(String)
        .join(", ")
        .replace(/, ([^,]*)$/, " or $1")}`;
    case "unrecognized_keys":
      return `there is no setting "${issue.keys[0]}" here`;
    default:
      return undefined;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  object: "an object",
};

function nameOf(input: unknown): string {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  return typeof input === "string" ? "text" : typeof input === "object" ? "an object" : String(input);
}
