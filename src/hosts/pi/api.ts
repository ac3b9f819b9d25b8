/**
 * The part of pi's extension API that we use. We declare the types ourselves because the package has had two names.
 * Fields of newer versions are optional. The content of events is untrusted.
 */
export interface PiEvents {
  readonly session_start: { readonly reason: string };
  readonly session_shutdown: { readonly reason: string };
  readonly session_before_compact: { readonly signal?: AbortSignal };
  readonly session_compact: object;
  /** Since 0.8x. Older versions do not report a failed compaction. */
  readonly session_compact_failed: object;
  /** `source`: interactive, rpc or extension. */
  readonly input: { readonly source?: string };
  readonly agent_start: object;
  readonly agent_end: { readonly messages: readonly unknown[] };
  /** Since 0.80.4: no retry and no compaction follows. */
  readonly agent_settled: object;
  readonly tool_result: {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
    readonly content: unknown;
    readonly isError: boolean;
  };
}

export interface PiApi {
  on<K extends keyof PiEvents>(event: K, handler: (event: PiEvents[K], ctx: PiContext) => unknown): unknown;
  registerCommand(name: string, command: PiCommand): void;
  registerTool(tool: PiTool): void;
  /** Starts a turn. If a turn runs, it fails later without throwing here. */
  sendUserMessage(text: string): void;
  /** Adds to the model's context; starts no turn. */
  sendMessage(
    message: { readonly customType: string; readonly content: string; readonly display: boolean },
    options?: { readonly deliverAs?: "steer" },
  ): void;
  getCommands?(): readonly PiCommandInfo[];
}

export interface PiCommandInfo {
  readonly name: string;
  /** extension, prompt or skill. */
  readonly source?: string;
  readonly sourceInfo?: { readonly path?: string };
}

export interface PiContext {
  readonly ui: PiUi;
  /** false: no person is present (`pi -p`). */
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: { getSessionId(): string };
  isIdle(): boolean;
  hasPendingMessages(): boolean;
  abort(): void;
}

interface PiUi {
  notify(message: string, type?: "info" | "warning" | "error"): void;
  confirm(title: string, message: string): Promise<boolean>;
  select(title: string, options: string[]): Promise<string | undefined>;
  setStatus(key: string, text: string | undefined): void;
  getEditorText(): string;
  /** Receives the raw terminal input. Returns a function that stops it. */
  onTerminalInput?(handler: (data: string) => undefined): () => void;
}

interface PiCommand {
  readonly description: string;
  readonly getArgumentCompletions: (prefix: string) => PiCompletion[] | null;
  readonly handler: (args: string, ctx: PiContext) => Promise<void>;
}

export interface PiCompletion {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

interface PiTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: object;
  readonly execute: (
    id: string,
    input: unknown,
    signal: AbortSignal | undefined,
  ) => Promise<{
    readonly content: { readonly type: "text"; readonly text: string }[];
    readonly details: object;
  }>;
}
