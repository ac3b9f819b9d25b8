/** The fields of agents' messages that are read here. Other shapes count as missing, so newer agents work. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import * as z from "zod";
import { Count, lenient, Input as Meta, Text } from "../../stream/stream-events.ts";

const ToolCall = z.object({
  toolCallId: z.string().catch(""),
  title: Text,
  name: Text,
  kind: Text,
  status: Text,
  content: lenient(z.array(z.object({ type: Text, path: Text }))),
  locations: lenient(z.array(z.object({ path: z.string() }))),
  rawInput: z.unknown().optional(),
  _meta: Meta,
});
export type ToolCall = z.infer<typeof ToolCall>;

/** Links have `uri`, `name` and `title`. An embedded resource has its text one level down. */
const Link = z.object({ uri: Text, name: Text, title: Text, text: Text });
const Content = lenient(Link.extend({ type: Text, resource: lenient(Link) }));
export type Content = z.infer<typeof Content>;

const kindOf = <K extends SessionUpdate["sessionUpdate"]>(kind: K) => z.literal(kind);

const Update = z.discriminatedUnion("sessionUpdate", [
  z.object({
    sessionUpdate: kindOf("agent_message_chunk"),
    content: Content,
    messageId: Text,
    _meta: Meta,
  }),
  z.object({ sessionUpdate: kindOf("agent_thought_chunk") }),
  ToolCall.extend({ sessionUpdate: kindOf("tool_call") }),
  ToolCall.extend({ sessionUpdate: kindOf("tool_call_update") }),
  z.object({
    sessionUpdate: kindOf("usage_update"),
    cost: lenient(z.object({ amount: z.number().nonnegative(), currency: z.string() })),
    _meta: Meta,
  }),
  z.object({ sessionUpdate: kindOf("session_info_update"), _meta: Meta }),
  z.object({ sessionUpdate: kindOf("notice"), severity: Text, title: Text, description: Text }),
  z.object({ sessionUpdate: kindOf("current_mode_update"), currentModeId: z.string() }),
  z.object({ sessionUpdate: kindOf("config_option_update"), configOptions: z.array(z.unknown()) }),
]);
export type Update = z.infer<typeof Update>;
/** The agent changed the mode or another setting of a session by itself. */
export type SettingUpdate = Extract<
  Update,
  { sessionUpdate: "current_mode_update" | "config_option_update" }
>;

const Notification = z.object({ sessionId: z.string(), update: z.unknown().optional() });

/** `update` is null for a kind that is not used. The message still proves that the agent is alive. */
export function parseUpdate(
  params: unknown,
): { readonly sessionId: string; readonly update: Update | null } | null {
  const outer = Notification.safeParse(params);
  if (!outer.success) return null;
  const { sessionId, update } = outer.data;
  return { sessionId, update: Update.safeParse(update).data ?? null };
}

const PermissionParams = z.object({
  sessionId: z.string(),
  toolCall: ToolCall,
  options: z.array(z.object({ optionId: z.string(), kind: Text })).catch([]),
});
export type PermissionParams = z.infer<typeof PermissionParams>;

/** Rejects an invalid request. The agent gets the error. */
export async function parsePermission(params: unknown): Promise<PermissionParams> {
  const parsed = PermissionParams.safeParse(params);
  if (parsed.success) return parsed.data;
  throw new Error("the request for permission is invalid");
}

const LoginMethod = z.object({
  id: z.string(),
  name: Text,
  type: Text,
  /** Of the type `env_var`. */
  vars: lenient(z.array(z.object({ name: z.string(), optional: lenient(z.boolean()) }))),
  _meta: Meta,
});
export type LoginMethod = z.infer<typeof LoginMethod>;

const Initialized = z.object({
  protocolVersion: z.unknown().optional(),
  authMethods: z.array(z.unknown()).catch([]),
  agentCapabilities: lenient(
    z.object({
      loadSession: lenient(z.boolean()),
      mcpCapabilities: lenient(z.object({ http: lenient(z.boolean()) })),
      sessionCapabilities: lenient(
        z.object({ resume: z.unknown().optional(), close: z.unknown().optional() }),
      ),
    }),
  ),
});

export type AgentCapabilities = ReturnType<typeof parseInitialized>;

export function parseInitialized(result: unknown) {
  const { agentCapabilities: can, protocolVersion, authMethods } = Initialized.parse(result);
  return {
    protocolVersion,
    logins: authMethods.flatMap((method) => LoginMethod.safeParse(method).data ?? []),
    load: can?.loadSession === true,
    resume: can?.sessionCapabilities?.resume != null,
    close: can?.sessionCapabilities?.close != null,
    httpTools: can?.mcpCapabilities?.http === true,
  };
}

const Choice = z.object({ value: z.string(), name: Text });
const ConfigOption = z.object({
  id: z.string(),
  category: Text,
  currentValue: z.unknown().optional(),
  // a group contains options, one level down
  options: z.array(z.union([Choice, z.object({ options: z.array(Choice) })])).catch([]),
});

const SessionOpened = z.object({
  sessionId: Text,
  modes: lenient(
    z.object({
      currentModeId: Text,
      availableModes: z.array(z.object({ id: z.string() })).catch([]),
    }),
  ),
  models: lenient(
    z.object({
      currentModelId: Text,
      availableModels: z.array(z.object({ modelId: z.string(), name: Text })).catch([]),
    }),
  ),
  configOptions: lenient(z.array(z.unknown())),
});

/** A setting of a session, and the request that changes it. */
export interface Setting {
  readonly via: "mode" | "model" | "option";
  readonly id: string;
  readonly current: string | null;
  readonly choices: readonly { readonly value: string; readonly name: string }[];
}

export type OpenedSession = ReturnType<typeof parseSession>;

export function parseSession(result: unknown) {
  const { sessionId = null, modes, models, configOptions } = SessionOpened.catch({}).parse(result);
  const options = (configOptions ?? []).flatMap((option) => ConfigOption.safeParse(option).data ?? []);
  const option = (category: string): Setting | null => {
    const found = options.find((each) => (each.category ?? each.id) === category);
    const choices = found?.options.flatMap((each) => ("value" in each ? [each] : each.options));
    return found ? makeSetting("option", found.id, found.currentValue, choices ?? []) : null;
  };
  const modeIds = modes?.availableModes.map(({ id }) => ({ value: id })) ?? [];
  const modelIds = models?.availableModels.map(({ modelId, name }) => ({ value: modelId, name })) ?? [];
  return {
    sessionId,
    mode: modes ? makeSetting("mode", "mode", modes.currentModeId, modeIds) : option("mode"),
    model:
      option("model") ?? (models ? makeSetting("model", "model", models.currentModelId, modelIds) : null),
  };
}

function makeSetting(
  via: Setting["via"],
  id: string,
  current: unknown,
  choices: readonly z.infer<typeof Choice>[],
): Setting {
  return {
    via,
    id,
    current: typeof current === "string" ? current : null,
    choices: choices.map(({ value, name }) => ({ value, name: name ?? value })),
  };
}

export const Tokens = z.object({
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  totalTokens: Count,
  thoughtTokens: Count,
  cachedReadTokens: Count,
  cachedWriteTokens: Count,
});
export type Tokens = z.infer<typeof Tokens>;

/** `sign` -1: the difference. */
export function addTokens(a: Tokens, b: Tokens, sign: 1 | -1 = 1): Tokens {
  const keys = Object.keys(Tokens.shape) as (keyof Tokens)[];
  return Object.fromEntries(keys.map((key) => [key, (a[key] ?? 0) + sign * (b[key] ?? 0)])) as Tokens;
}

const PromptResult = z.object({
  stopReason: z.string().catch(""),
  usage: lenient(Tokens),
  _meta: Meta,
});
export type PromptResult = z.infer<typeof PromptResult>;

export function parsePromptResult(result: unknown): PromptResult {
  return PromptResult.parse(result ?? {});
}

/** How Claude and Codex report the kind of a failure, to clients that ask for it. */
const SessionFailure = z.object({
  category: z.string(),
  severity: Text,
  title: Text,
  actions: lenient(z.array(z.string())),
});
export type SessionFailure = z.infer<typeof SessionFailure>;

const AirMeta = z.object({
  jetbrains: z.object({ air: z.object({ sessionFailure: SessionFailure }) }),
});

export function readSessionFailure(meta: unknown): SessionFailure | null {
  return AirMeta.safeParse(meta).data?.jetbrains.air.sessionFailure ?? null;
}
