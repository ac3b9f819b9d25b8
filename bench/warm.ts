/**
 * A prompt to an agent that is warm: through our adapter, with all that it writes down so that nothing runs twice,
 * against the bare client of the protocol's SDK, in turns, with the same agent.
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { createAcpAgent } from "../src/agents/acp/acp-agent.ts";
import { plainProfile } from "../src/agents/acp/profiles.ts";
import type { LoopId } from "../src/core/loop.ts";
import type { Conversation } from "../src/ports/agent.ts";
import { tempProject } from "./project.ts";
import { isQuick, median, report } from "./report.ts";

const TURNS = isQuick ? 60 : 200;
const WARM_UP = 10;
const SCRIPT = resolve("bench/warm-agent.mjs");

const { root } = tempProject();
const bare = await openBare();
const ours = openOurs();
const [bareMs, oursMs]: [number[], number[]] = [[], []];
for (let turn = 0; turn < TURNS + WARM_UP; turn++) {
  const figures = [await timed(() => bare.prompt(turn)), await timed(() => ours.prompt(turn))] as const;
  if (turn < WARM_UP) continue;
  bareMs.push(figures[0]);
  oursMs.push(figures[1]);
}
bare.close();
await ours.close();
report({
  name: "a prompt to a warm agent over ACP",
  figure: `${median(oursMs).toFixed(2)} ms`,
  ratio: median(oursMs) / median(bareMs),
  peer: `the SDK's bare client (${median(bareMs).toFixed(2)} ms)`,
  limit: 1.2,
});

async function openBare() {
  const child = spawn(process.execPath, [SCRIPT], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const stream = acp.ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const answer: string[] = [];
  const { agent } = acp
    .client({ name: "bench" })
    .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        answer.push(update.content.text);
    })
    .connect(stream);
  await agent.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
  const { sessionId } = await agent.request(acp.methods.agent.session.new, { cwd: root, mcpServers: [] });
  return {
    async prompt(turn: number) {
      answer.length = 0;
      const prompt = [{ type: "text" as const, text: `turn ${turn}` }];
      await agent.request(acp.methods.agent.session.prompt, { sessionId, prompt });
    },
    close: () => child.kill(),
  };
}

function openOurs() {
  const program = { executable: process.execPath };
  const profile = { ...plainProfile("bench"), args: [SCRIPT] };
  const agent = createAcpAgent({ profile, program, projectDir: root });
  let conversation: Conversation | null = null;
  return {
    async prompt(turn: number) {
      const end = await agent.run(
        {
          id: `aabbccdd-${turn}`,
          loopId: "aabbccdd" as LoopId,
          token: 1,
          text: `turn ${turn}`,
          deadlineAt: Date.now() + 60_000,
          env: { LOOP_KIND: "work", LOOP_ROLE: "generator", LOOP_NONCE: "nonce" },
          conversation,
          budgetUsd: null,
        },
        { signal: new AbortController().signal, onStarted: () => {}, onEvent: () => {} },
      );
      if (end.kind !== "ok") throw new Error(JSON.stringify(end));
      ({ conversation } = end);
    },
    close: agent.close,
  };
}

async function timed(action: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}
