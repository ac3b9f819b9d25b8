/** The differences between agents, as data. Measured with the versions in test/clients. */
import { homedir } from "node:os";
import { join } from "node:path";

/** What `usage` of a finished prompt counts, or where else the tokens are. */
export type TokenSource =
  | "turn"
  /** Only the last request to the model: with several requests the number is unknown. */
  | "last-step"
  /** The conversation, since this process opened it. */
  | "cumulative"
  | "quota"
  /** `_meta.usage` of message chunks, one for each request. */
  | "chunks";

export interface AcpProfile {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Session modes for a turn that works and for a turn that only reads. Left out: the default fits both. */
  readonly modes?: { readonly work: string; readonly look: string };
  /** Login methods that need only a key, each with the variables that may hold it. Left out: not known. */
  readonly keyMethods?: Readonly<Record<string, readonly string[]>>;
  readonly tokens: TokenSource;
  /** What the cost in `usage_update` covers: the whole conversation, or the part since this process opened it. */
  readonly cost: "conversation" | "process" | "none";
  /** After a denied permission the model is told, or the turn ends silently. */
  readonly afterDenial: "told" | "ends";
  /** A turn without usage never reached a model, whatever its stop reason. */
  readonly usageProves: boolean;
  /** The client reports its own errors as an agent message with this prefix. */
  readonly errorMark?: string;
  /** Where a failed request has its HTTP status. `details`: in the details or in the code. */
  readonly status: "code" | "details" | "none";
  /** The file with the events of a session. It has the kind of an error that the protocol only has in words. */
  readonly eventsFile?: (sessionId: string, env: NodeJS.ProcessEnv) => string;
  /** Arguments that print a session as JSON. It has the HTTP status of an error. */
  readonly exportArgs?: (sessionId: string) => readonly string[];
  /** The title of a request to run a command is the command itself. */
  readonly titleIsCommand: boolean;
  /** Leaves files in TMPDIR at each start, so it gets its own TMPDIR, removed at the end. */
  readonly ownTmpDir: boolean;
}

const PLAIN: Omit<AcpProfile, "name"> = {
  args: [],
  env: {},
  tokens: "turn",
  cost: "conversation",
  afterDenial: "told",
  usageProves: false,
  status: "none",
  titleIsCommand: false,
  ownTmpDir: false,
};

const PROFILES = {
  claude: {
    env: {
      // otherwise the model must search for the tools of a server
      ENABLE_TOOL_SEARCH: "false",
      // otherwise the person pays for a suggestion of the next prompt after each turn
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
    },
    modes: { work: "default", look: "default" },
    cost: "process",
  },
  codex: {
    env: { NO_BROWSER: "1", CODEX_ACP_PROMPT_SUGGESTIONS: "false" },
    // the default mode asks a model instead of a person
    modes: { work: "workspace-write", look: "read-only" },
    keyMethods: { "api-key": ["CODEX_API_KEY", "OPENAI_API_KEY"] },
    cost: "none",
    usageProves: true,
  },
  gemini: {
    args: ["--acp"],
    env: { GEMINI_CLI_NO_RELAUNCH: "true" },
    modes: { work: "default", look: "default" },
    keyMethods: { "gemini-api-key": ["GEMINI_API_KEY"], "vertex-ai": ["GOOGLE_API_KEY"] },
    tokens: "quota",
    cost: "none",
    status: "code",
    titleIsCommand: true,
  },
  opencode: {
    args: ["acp"],
    tokens: "last-step",
    afterDenial: "ends",
    exportArgs: (sessionId) => ["export", sessionId],
    // 5.6 MB at each start
    ownTmpDir: true,
  },
  copilot: {
    args: ["--acp"],
    tokens: "cumulative",
    cost: "none",
    afterDenial: "ends",
    usageProves: true,
    errorMark: "Error: ",
    eventsFile: (sessionId, { COPILOT_HOME, HOME = homedir() }) =>
      join(COPILOT_HOME || join(HOME, ".copilot"), "session-state", sessionId, "events.jsonl"),
  },
  qwen: {
    args: ["--acp"],
    modes: { work: "default", look: "default" },
    keyMethods: { openai: ["OPENAI_API_KEY"] },
    tokens: "chunks",
    cost: "none",
    afterDenial: "ends",
    status: "details",
  },
  demo: {},
} as const satisfies Record<string, Partial<AcpProfile>>;

export type AcpProfileName = keyof typeof PROFILES;

export function profileOf(name: AcpProfileName): AcpProfile {
  return { ...PLAIN, ...PROFILES[name], name };
}

/** For any agent that speaks the protocol: assumes nothing. `name` is shown to people. */
export function plainProfile(name: string): AcpProfile {
  return { ...PLAIN, name };
}
