/**
 * The agent of `loop demo`, as a server of the Agent Client Protocol. Its conversations are in memory only.
 *
 * 1. A conversation takes one prompt at a time.
 * 2. A cancelled prompt is answered, and writes nothing afterwards.
 */
import { randomBytes } from "node:crypto";
import { isAbsolute } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { InitializeResponse, NewSessionResponse } from "@agentclientprotocol/sdk";
import type { PromptResponse } from "@agentclientprotocol/sdk/unstable";
import * as z from "zod";
import { openWire, type Wire } from "../acp/connection/wire.ts";
import { type DemoStage, playScene, sendUpdate, TakenBack } from "./play.ts";
import { OUTPUT_TOKENS, sceneOf } from "./scenes.ts";

interface Session {
  readonly id: string;
  cwd: string;
  readonly said: { readonly prompt: string; readonly answer: string }[];
  calls: number;
  costUsd: number;
  running: AbortController | null;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const CONTEXT_TOKENS = 200_000;
const CANCELLED: PromptResponse = { stopReason: "cancelled" };

const Place = z.object({ cwd: z.string().refine(isAbsolute, "must be absolute") });
const Which = z.object({ sessionId: z.string() });
const Prompt = Which.extend({
  prompt: z.array(z.object({ type: z.string(), text: z.string().optional() })).min(1),
});

/** Resolves when the client has closed `input`. */
export async function serveDemoAgent(input: Readable, output: Writable, version: string): Promise<void> {
  const agent = new DemoAgent();
  const wire = openWire(output, input, {
    maxLineBytes: MAX_LINE_BYTES,
    onBytes: () => {},
    onNotification(method, params) {
      if (method === "session/cancel") agent.cancel(params);
    },
    onRequest(method, params) {
      switch (method) {
        case "initialize":
          return introduce(version);
        case "session/new":
          return agent.open(params);
        case "session/load":
          return agent.load(wire, params);
        case "session/prompt":
          return agent.prompt(wire, params);
        default:
          return undefined;
      }
    },
  });
  await wire.closed;
  agent.stop();
}

async function introduce(version: string): Promise<InitializeResponse> {
  return {
    protocolVersion: 1,
    agentInfo: { name: "loopwright-demo", title: "The agent of loop demo", version },
    agentCapabilities: { loadSession: true },
    authMethods: [],
  };
}

/** The conversations and the requests on them. An invalid request throws an error for the client. */
class DemoAgent {
  readonly #sessions = new Map<string, Session>();

  async open(params: unknown): Promise<NewSessionResponse> {
    const { cwd } = parse(Place, params);
    const id = `demo-${randomBytes(6).toString("hex")}`;
    this.#sessions.set(id, { id, cwd, said: [], calls: 0, costUsd: 0, running: null });
    return { sessionId: id };
  }

  async load(wire: Wire, params: unknown): Promise<object> {
    const session = this.#findIdle(params);
    session.cwd = parse(Place, params).cwd;
    const stage = { wire, sessionId: session.id };
    for (const { prompt, answer } of session.said) {
      sendUpdate(stage, { sessionUpdate: "user_message_chunk", content: { type: "text", text: prompt } });
      sendUpdate(stage, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: answer } });
    }
    return {};
  }

  async prompt(wire: Wire, params: unknown): Promise<PromptResponse> {
    const { prompt: blocks } = parse(Prompt, params);
    const session = this.#findIdle(params);
    const running = new AbortController();
    session.running = running;
    try {
      return await answer(wire, session, blocks.map(({ text = "" }) => text).join("\n"), running.signal);
    } catch (error) {
      if (running.signal.aborted || error instanceof TakenBack) return CANCELLED;
      throw error;
    } finally {
      session.running = null;
    }
  }

  cancel(params: unknown): void {
    const { data } = Which.safeParse(params);
    this.#sessions.get(data?.sessionId ?? "")?.running?.abort();
  }

  stop(): void {
    for (const { running } of this.#sessions.values()) running?.abort();
  }

  #findIdle(params: unknown): Session {
    const { sessionId } = parse(Which, params);
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new Error(`unknown session: ${sessionId}`);
    if (session.running !== null) throw new Error("the session is still answering another prompt");
    return session;
  }
}

async function answer(
  wire: Wire,
  session: Session,
  prompt: string,
  signal: AbortSignal,
): Promise<PromptResponse> {
  const scene = sceneOf(session.said.length + 1);
  const { id: sessionId, cwd } = session;
  const stage: DemoStage = { wire, sessionId, cwd, signal, nextCall: () => ++session.calls };
  const message = await playScene(stage, scene, prompt);
  session.said.push({ prompt, answer: message });
  session.costUsd = Math.round((session.costUsd + scene.costUsd) * 100) / 100;
  const { inputTokens } = scene;
  const totalTokens = inputTokens + OUTPUT_TOKENS;
  const cost = { amount: session.costUsd, currency: "USD" };
  sendUpdate(stage, { sessionUpdate: "usage_update", used: totalTokens, size: CONTEXT_TOKENS, cost });
  return { stopReason: "end_turn", usage: { inputTokens, outputTokens: OUTPUT_TOKENS, totalTokens } };
}

/** Throws an error for the client. */
function parse<T>(shape: z.ZodType<T>, params: unknown): T {
  const parsed = shape.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join(".") || "params"}: ${issue?.message ?? "wrong"}`);
}
