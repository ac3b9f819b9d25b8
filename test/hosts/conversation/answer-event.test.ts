/**
 * A client that there is no adapter for, with a command of its own: what conversations share needs nothing but events,
 * and gives nothing but answers.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { ConversationAnswer } from "../../../src/hosts/conversation/answer.ts";
import type { ConversationEvent } from "../../../src/hosts/conversation/event.ts";
import { answerEvent } from "../../../src/hosts/conversation/hooks/answer-event.ts";
import { NO_RECORD } from "../../../src/hosts/conversation/hooks/hook-client.ts";
import { openHookConversation } from "../../../src/hosts/conversation/hooks/open-hook-conversation.ts";
import { NO_WAKING } from "../../../src/hosts/conversation/hooks/wake-up.ts";
import { removeTempDirs } from "../../store/fixtures/temp-dir.ts";
import { statusBlock } from "../../support/goals/goal-world.ts";
import { PlayedClient, SESSION } from "../../support/played-client.ts";

afterEach(removeTempDirs);

const NEVER = new AbortController().signal;
const COMMAND_NAME = "%loop";

type Happened = ConversationEvent extends infer E
  ? E extends ConversationEvent
    ? Omit<E, "promptId" | "transcript">
    : never
  : never;

async function open({ cap = 0, givesContext = true } = {}) {
  const world = new PlayedClient();
  await world.addGoal();
  const { dir, root } = world;
  const open = openHookConversation(
    { dir, session: SESSION, client: { pid: 1, start: null }, env: {}, say: () => {}, now: Date.now },
    { commandName: COMMAND_NAME, cap, waking: NO_WAKING, record: NO_RECORD },
  );
  open.engine.start();
  onTestFinished(() => open.engine.stop("the test is over"));
  const program = join(root, "program.cjs");
  writeFileSync(program, "process.stdout.write('Carried out.')");
  const context = {
    open: () => open,
    dir,
    now: Date.now,
    givesContext,
    typed: {
      command: [process.execPath, program] as const,
      root,
      session: SESSION,
      env: process.env,
      commandName: COMMAND_NAME,
    },
  };
  const ask = (event: Happened, promptId = "p-1") =>
    answerEvent({ ...event, promptId, transcript: null } as ConversationEvent, context, NEVER);
  const stop = (answer = "ok") => ask({ type: "stopped", answer });
  const report = (exit: boolean) => stop(statusBlock(world.goal().job?.nonce ?? "", exit));
  return { world, ask, stop, report, seat: open.seat };
}

function messageOf(answer: ConversationAnswer): string {
  return answer.kind === "tell" ? answer.message : "";
}

describe("E5 D1 events in, answers out", () => {
  test("a goal goes on at every stop until it is proved, and then says so", async () => {
    const { world, stop, report } = await open();
    expect(await stop()).toMatchObject({
      kind: "context",
      text: expect.stringContaining("test -f done.txt"),
    });
    expect(await report(false)).toMatchObject({ kind: "context" });
    world.write("done.txt");
    expect(messageOf(await report(true))).toMatch(/^\[LOOP\] LOOP_DONE: a0000000/);
    expect(await stop()).toEqual({ kind: "nothing" });
  });

  test("a prompt in the middle of its turn pauses it, and the way on is named as this client has it", async () => {
    const { ask, stop } = await open();
    await stop();
    const answer = await ask({ type: "prompted", wake: null }, "p-2");
    expect(messageOf(answer)).toMatch(/PAUSED a0000000: you stopped its turn\. Go on with: %loop continue/);
  });

  test("a wake-up that nobody called is answered here", async () => {
    const { ask } = await open();
    expect(await ask({ type: "prompted", wake: "0123456789ab" })).toMatchObject({ kind: "local" });
  });

  test.each([
    [true, { kind: "context", message: "Carried out." }],
    [false, { kind: "nothing" }],
  ])(
    "what is typed sets a goal going with its answer, where that reaches the model: %s",
    async (givesContext, answer) => {
      const { ask, stop } = await open({ givesContext });
      expect(await ask({ type: "typed", words: "continue" })).toMatchObject(answer);
      if (!givesContext) expect(await stop()).toMatchObject({ kind: "context" });
    },
  );

  test("a turn that failed is over; one that was stopped pauses its goal", async () => {
    const { world, ask, stop, seat } = await open();
    await stop();
    const failure = { class: "outage", reason: "no network", resetsAt: null } as const;
    expect(await ask({ type: "failed", failure })).toEqual({ kind: "nothing" });
    expect(seat.record.turn?.end).toMatchObject({ kind: "failed", failure });
    expect(world.goal().status).toBe("active");
  });

  test("idle in the middle of a turn: the person stopped it", async () => {
    const { world, ask, stop } = await open();
    await stop();
    await ask({ type: "idle" });
    expect(world.goal()).toMatchObject({ status: "paused", pause: { code: "interrupted" } });
  });

  test("D7 calls of tools in its turn count, those of others do not", async () => {
    const { ask, stop, seat } = await open();
    await stop();
    const used = { tool: "Write", id: "t-1", isOk: true, durationMs: null, isOfSubAgent: false, ran: null };
    await ask({ type: "tool", used });
    await ask({ type: "tool", used: { ...used, id: "t-2", isOfSubAgent: true } });
    expect(seat.record.turn?.toolCalls).toBe(1);
  });

  test("the end of the conversation pauses its goal; its beginning says so", async () => {
    const { world, ask, stop, seat } = await open();
    await stop();
    expect(await ask({ type: "session-ended" })).toEqual({ kind: "nothing" });
    expect(seat.record.state).toBe("over");
    expect(world.goal().pause?.reason).toBe("its conversation ended");
    const answer = await ask({ type: "session-started", isCompacted: false });
    expect(messageOf(answer)).toMatch(/is paused: its conversation ended\. Go on with: %loop continue/);
  });

  test("D3 a client that ends turns by itself: a tool is asked for before it does, and then the stop is let go", async () => {
    const { stop, report } = await open({ cap: 3 });
    const answers = [await stop(), await report(false), await report(false), await report(false)];
    expect(answers.map(({ kind }) => kind)).toEqual(["context", "context", "context", "tell"]);
    const [first] = answers;
    expect(first?.kind === "context" ? first.text : "").toMatch(/^First of all call the tool/);
  });
});
