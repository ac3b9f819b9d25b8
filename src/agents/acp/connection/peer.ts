/**
 * A started agent: requests to it and messages from it. Owns its process and the connection. Knows nothing about
 * turns.
 *
 * 1. No request waits for a process or a connection that ended.
 * 2. Updates arrive in the order they were sent, before an answer that was sent later.
 * 3. A request for permission is refused while nobody listens.
 */
import type * as sdk from "@agentclientprotocol/sdk";
import { describeExit } from "../../process/reasons.ts";
import {
  type AgentCapabilities,
  type PermissionParams,
  parseInitialized,
  parsePermission,
  parseUpdate,
  type SettingUpdate,
  type Update,
} from "./messages.ts";
import { type PeerCommand, type PeerProcess, startPeer, within } from "./peer-process.ts";
import { CLOSED, openWire } from "./wire.ts";

/** The requests that we send, in the types of the official package. wire.ts says why only types are used. */
export interface AcpRequests {
  readonly initialize: sdk.InitializeRequest;
  readonly authenticate: sdk.AuthenticateRequest;
  readonly "session/new": sdk.NewSessionRequest;
  readonly "session/load": sdk.LoadSessionRequest;
  readonly "session/resume": sdk.ResumeSessionRequest;
  readonly "session/close": sdk.CloseSessionRequest;
  readonly "session/prompt": sdk.PromptRequest;
  readonly "session/set_mode": sdk.SetSessionModeRequest;
  readonly "session/set_config_option": sdk.SetSessionConfigOptionRequest;
  /** Older agents offer models this way. The protocol now has a config option for it. */
  readonly "session/set_model": { readonly sessionId: string; readonly modelId: string };
}

export interface PeerListener {
  /** Every message that is not an answer. `update` is null for a kind that is not used. */
  onUpdate(sessionId: string | null, update: Update | null, line: string): void;
  /** Must not reject. The signal withdraws the request. */
  onPermission(params: PermissionParams, signal: AbortSignal): Promise<sdk.RequestPermissionOutcome>;
  onBytes(count: number): void;
}

export interface Peer {
  readonly process: PeerProcess;
  readonly can: AgentCapabilities;
  isGone(): boolean;
  /** Resolves with the reason why the agent ended, for a person. */
  readonly gone: Promise<string>;
  /** Rejects with the agent's error (`code`, `data`), with `PeerGone` or with `PeerSilent`. */
  request<M extends keyof AcpRequests>(
    method: M,
    params: AcpRequests[M],
    withinMs?: number,
  ): Promise<unknown>;
  /** Asks the agent to stop the prompt of this session. */
  cancel(sessionId: string): void;
  listen(listener: PeerListener | null): void;
  /** The settings of this session that the agent changed by itself since the last call, also while nobody listens. */
  takeChanges(sessionId: string): readonly SettingUpdate[];
  /** Ends the agent and everything it started. Must not reject. */
  close(): Promise<void>;
}

/** The agent ended, or closed its stdout. */
export class PeerGone extends Error {}

/** The agent does not answer a request that needs no time. */
export class PeerSilent extends Error {}

const PROTOCOL_VERSION = 1;
const MOST_CHANGES = 100;
const EXIT_MS = 500;
/** With these, Claude and Codex report the kind of a failure. */
const CAPABILITIES = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  session: { compaction: {}, notices: {} },
  _meta: { jetbrains: { air: { version: 1, capabilities: ["sessionFailure"] } } },
};

export interface PeerLimits {
  readonly maxLineBytes: number;
  /** Limit for the start and the first request. */
  readonly startMs: number;
}

/** Rejects like `request`, or with an error of the system; then no process remains. The signal ends the agent. */
export async function openPeer(command: PeerCommand, limits: PeerLimits, signal: AbortSignal): Promise<Peer> {
  signal.throwIfAborted();
  const child = await startPeer(command);
  let listener: PeerListener | null = null;
  let isGone = false;

  const changes = trackChanges();

  async function permit(params: PermissionParams, withdrawn: AbortSignal): Promise<object> {
    return { outcome: (await listener?.onPermission(params, withdrawn)) ?? { outcome: "cancelled" } };
  }

  const wire = openWire(child.stdin, child.stdout, {
    maxLineBytes: limits.maxLineBytes,
    onBytes: (count) => listener?.onBytes(count),
    onNotification(method, params, line) {
      const parsed = method === "session/update" ? parseUpdate(params) : null;
      if (parsed !== null) changes.note(parsed.sessionId, parsed.update);
      listener?.onUpdate(parsed?.sessionId ?? null, parsed?.update ?? null, line);
    },
    onRequest: (method, params, withdrawn) =>
      method === "session/request_permission"
        ? parsePermission(params).then((parsed) => permit(parsed, withdrawn))
        : undefined,
  });
  const gone = wire.closed.then(async () => {
    isGone = true;
    // an agent that closes its stdout normally exits
    await within(child.exited, EXIT_MS);
    void child.kill();
    return describeEnd(child, await child.exited);
  });

  const peer: Omit<Peer, "can"> = {
    process: child,
    isGone: () => isGone,
    gone,
    request(method, params, withinMs) {
      const late = new AbortController();
      return raced(wire.request(method, params, late.signal), gone, method, withinMs, late);
    },
    cancel: (sessionId) => wire.notify("session/cancel", { sessionId } satisfies sdk.CancelNotification),
    listen(next) {
      listener = next;
    },
    takeChanges: changes.take,
    async close() {
      isGone = true;
      await child.kill();
    },
  };
  const onAbort = (): void => void child.kill();
  signal.addEventListener("abort", onAbort);
  try {
    const greeting = {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "loopwright", version: "1" },
      clientCapabilities: CAPABILITIES,
    };
    const can = parseInitialized(await peer.request("initialize", greeting, limits.startMs));
    if (can.protocolVersion !== PROTOCOL_VERSION) throw new Error(describeVersion(can.protocolVersion));
    return { ...peer, can };
  } catch (error) {
    await peer.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Only the last change of each kind counts. */
function trackChanges() {
  let changes: { readonly sessionId: string; readonly update: SettingUpdate }[] = [];
  return {
    note(sessionId: string, update: Update | null): void {
      const kind = update?.sessionUpdate;
      if (kind !== "current_mode_update" && kind !== "config_option_update") return;
      const others = changes.filter(
        (one) => one.sessionId !== sessionId || one.update.sessionUpdate !== kind,
      );
      changes = [...others.slice(-MOST_CHANGES), { sessionId, update: update as SettingUpdate }];
    },
    take(sessionId: string): readonly SettingUpdate[] {
      const mine = changes.filter((one) => one.sessionId === sessionId);
      if (mine.length > 0) changes = changes.filter((one) => one.sessionId !== sessionId);
      return mine.map(({ update }) => update);
    },
  };
}

function describeVersion(version: unknown): string {
  const spoken =
    typeof version === "number"
      ? `the agent speaks version ${version} of the Agent Client Protocol`
      : "the agent does not say which version of the Agent Client Protocol it speaks";
  return `${spoken}; install a version of the agent that speaks version ${PROTOCOL_VERSION}`;
}

function describeEnd(child: PeerProcess, exit: number | Error): string {
  if (exit instanceof Error) return `the agent's process could not be started: ${exit.message}`;
  const end = describeExit({ exitCode: exit, answer: "", stderr: child.stderr() });
  return `the agent's process ended: ${end}`;
}

/** Waits for the answer, the end of the process or the time limit, whichever comes first. */
function raced(
  answer: Promise<unknown>,
  gone: Promise<string>,
  method: string,
  withinMs: number | undefined,
  late: AbortController,
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    if (withinMs === undefined) return;
    const text = `the agent did not answer ${method} within ${Math.round(withinMs / 1000)}s`;
    timer = setTimeout(() => {
      late.abort();
      reject(new PeerSilent(text));
    }, withinMs);
  });
  const end = gone.then((reason) => {
    throw new PeerGone(reason);
  });
  // the end of the process says more than the end of the connection
  const told = answer.catch((error: unknown) => (error === CLOSED ? end : Promise.reject(error)));
  return Promise.race([told, end, silence]).finally(() => clearTimeout(timer));
}
