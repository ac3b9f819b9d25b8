/** The agent of the demo as a process, with the client side of the protocol's own SDK at its other end. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { DEMO_FILES } from "../../src/agents/demo/scenes.ts";
import { LOOP } from "./cli.ts";

export type Outcome = acp.RequestPermissionResponse["outcome"];
export const ALLOW: Outcome = { outcome: "selected", optionId: "allow" };
export const REJECT: Outcome = { outcome: "selected", optionId: "reject" };

export interface DemoClient {
  readonly agent: acp.ClientConnection["agent"];
  /** All that it sent by itself, in order. */
  readonly updates: acp.SessionNotification["update"][];
  readonly asked: acp.RequestPermissionRequest[];
  /** Text of the agent's since the last call. */
  said(): string;
  open(): Promise<string>;
  prompt(sessionId: string, text: string): Promise<acp.PromptResponse>;
  /** Closes its stdin; resolves with its exit code. */
  close(): Promise<number | null>;
}

export function startDemoAgent(cwd: string): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [LOOP, "demo-agent"], { cwd, env: { PATH: "/usr/bin:/bin", HOME: "" } });
}

export function writeDemo(dir: string): void {
  for (const [path, text] of Object.entries(DEMO_FILES)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

export function readDemo(dir: string): Record<string, string> {
  return Object.fromEntries(
    Object.keys(DEMO_FILES).map((path) => [path, readFileSync(join(dir, path), "utf8")]),
  );
}

/** `answer`: to each question for leave. */
export async function connectDemo(
  cwd: string,
  answer: (asked: acp.RequestPermissionRequest) => Outcome | Promise<Outcome> = () => ALLOW,
): Promise<DemoClient> {
  const { methods } = acp;
  const child = startDemoAgent(cwd);
  const exited = new Promise<number | null>((done) => child.once("close", done));
  const updates: acp.SessionNotification["update"][] = [];
  const asked: acp.RequestPermissionRequest[] = [];
  let heard = 0;
  const { agent } = acp
    .client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      return { outcome: await answer(params) };
    })
    .connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream));
  await agent.request(methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
  return {
    agent,
    updates,
    asked,
    said() {
      const text = textOf(updates.slice(heard));
      heard = updates.length;
      return text;
    },
    open: async () => (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId,
    prompt: (sessionId, text) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    close() {
      child.stdin.end();
      return exited;
    },
  };
}

function textOf(updates: readonly acp.SessionNotification["update"][]): string {
  return updates
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
        ? update.content.text
        : "",
    )
    .join("");
}
