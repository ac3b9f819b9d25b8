/**
 * What we use of pi's extension API, in our own words: the package has had two names, and what is not imported cannot
 * be missing. Fields that only newer versions have are optional. Whatever an event carries is anything until it was
 * looked at.
 */

export interface PiEvents {
  readonly session_start: { readonly reason: string };
  readonly session_shutdown: { readonly reason: string };
  readonly session_before_compact: { readonly signal?: AbortSignal };
  readonly session_compact: object;
  /** From 0.8x on; before that a compaction that failed is not told of. */
  readonly session_compact_failed: object;
  /** `source`: interactive, rpc or extension. */
  readonly input: { readonly source?: string };
  readonly agent_start: object;
  readonly agent_end: { readonly messages: readonly unknown[] };
  /** From 0.80.4 on: nothing follows by itself any more, no retry and no compaction. */
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
  /** Starts a turn. While one runs it fails later, without throwing here. */
  sendUserMessage(text: string): void;
  /** Into what the model sees; starts nothing. */
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
  /** false: nobody is there (`pi -p`). */
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: { getSessionId(): string };
  isIdle(): boolean;
  hasPendingMessages(): boolean;
  abort(): void;
}

export interface PiUi {
  notify(message: string, type?: "info" | "warning" | "error"): void;
  confirm(title: string, message: string): Promise<boolean>;
  select(title: string, options: string[]): Promise<string | undefined>;
  setStatus(key: string, text: string | undefined): void;
  getEditorText(): string;
  /** What a person types, as the terminal sends it. Returns what ends it. */
  onTerminalInput?(handler: (data: string) => undefined): () => void;
}

export interface PiCommand {
  readonly description: string;
  readonly getArgumentCompletions: (prefix: string) => PiCompletion[] | null;
  readonly handler: (args: string, ctx: PiContext) => Promise<void>;
}

export interface PiCompletion {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

export interface PiTool {
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
