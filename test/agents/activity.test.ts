/** What a turn does, read from its run folder as any other process would. */
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRunFolderActivity } from "../../src/agents/activity/run-folder-activity.ts";
import { createCommandAgent } from "../../src/agents/process/command.ts";
import type { LoopId } from "../../src/core/loop.ts";
import type { AgentEvent } from "../../src/ports/agent.ts";
import { makeControl, makeProject, makeTurn, type Project } from "../fixtures/agents/project.ts";

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

const loopId = "aabbccdd" as LoopId;
const turn = { loopId, turnId: "turn-1" };

function runOf(name: string): string {
  const folder = join(project.dir, ".loop", "runs", loopId, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

const reader = () => createRunFolderActivity(project.dir);

describe("the activity of a turn", () => {
  test("a command's lines are text, and a cursor goes on where it was", async () => {
    const folder = runOf("turn-1");
    writeFileSync(join(folder, "answer.txt"), "one\ntwo\nhal");
    const first = await reader().read(turn);
    expect(first?.events).toEqual([
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ]);
    appendFileSync(join(folder, "answer.txt"), "f\nthree\n");
    const second = await reader().read(turn, { after: first?.next ?? "" });
    expect(second?.events).toEqual([
      { type: "text", text: "half" },
      { type: "text", text: "three" },
    ]);
    expect((await reader().read(turn, { after: second?.next ?? "" }))?.events).toEqual([]);
  });

  test("the rest of a last line is told once the turn is over", async () => {
    const folder = runOf("turn-1");
    writeFileSync(join(folder, "answer.txt"), "no newline");
    expect((await reader().read(turn))?.events).toEqual([]);
    writeFileSync(join(folder, "exit.1"), "0\n");
    expect((await reader().read(turn))?.events).toEqual([{ type: "text", text: "no newline" }]);
  });

  test("at most `limit` lines' worth of events come at once, and nothing is lost between pages", async () => {
    const lines = Array.from({ length: 95 }, (_, i) => `line ${i}`);
    writeFileSync(join(runOf("turn-1"), "answer.txt"), `${lines.join("\n")}\n`);
    const activity = reader();
    const seen: AgentEvent[] = [];
    let after = "";
    for (let page = 0; page < 20; page++) {
      const read = await activity.read(turn, { ...(after === "" ? {} : { after }), limit: 10 });
      if (read === null || read.events.length === 0) break;
      expect(read.events.length).toBeLessThanOrEqual(10);
      seen.push(...read.events);
      after = read.next;
    }
    expect(seen).toEqual(lines.map((text) => ({ type: "text", text })));
  });

  test("updates over ACP add up across pages, also for a reader that starts at a cursor", async () => {
    const folder = runOf("turn-1");
    writeFileSync(join(folder, "format.txt"), "acp");
    const update = (update: object) =>
      `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } })}\n`;
    const chunk = (text: string) =>
      update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    const events = join(folder, "events.jsonl");
    writeFileSync(events, chunk("Hello ") + chunk("wor"));
    const first = await reader().read(turn);
    expect(first?.events).toEqual([]);
    appendFileSync(
      events,
      chunk("ld\n") +
        update({
          sessionUpdate: "tool_call",
          toolCallId: "c1",
          title: "Edit a.ts",
          kind: "edit",
          status: "in_progress",
          locations: [{ path: join(project.dir, "a.ts") }],
        }),
    );
    const second = await reader().read(turn, { after: first?.next ?? "" });
    expect(second?.events[0]).toEqual({ type: "text", text: "Hello world" });
    expect(second?.events[1]).toMatchObject({ type: "tool" });
  });

  test("a turn that another agent of the chain took goes on in that agent's folder", async () => {
    writeFileSync(join(runOf("turn-1"), "answer.txt"), "from the first\n");
    writeFileSync(join(runOf("turn-1.2"), "answer.txt"), "from the second\n");
    const first = await reader().read(turn);
    expect(first?.events).toEqual([{ type: "text", text: "from the first" }]);
    const second = await reader().read(turn, { after: first?.next ?? "" });
    expect(second?.events).toEqual([{ type: "text", text: "from the second" }]);
  });

  test("a real agent is read while it runs", async () => {
    const go = join(project.dir, "go");
    const command = `echo started; while [ ! -e go ]; do sleep 0.05; done; echo finished`;
    const agent = createCommandAgent({ command, projectDir: project.dir });
    const running = makeTurn({ id: "turn-1", loopId });
    const end = agent.run(running, makeControl());
    const activity = reader();
    let after: string | undefined;
    await expect
      .poll(async () => {
        const page = await activity.read(turn, after === undefined ? {} : { after });
        after = page?.next ?? after;
        return page?.events ?? [];
      })
      .toEqual([{ type: "text", text: "started" }]);
    writeFileSync(go, "");
    await end;
    expect((await activity.read(turn, { after: after ?? "" }))?.events).toEqual([
      { type: "text", text: "finished" },
    ]);
  });

  test.each([
    ["nothing", () => {}],
    [
      "a link in place of the output",
      (folder: string) => symlinkSync("/etc/passwd", join(folder, "answer.txt")),
    ],
    ["a folder in place of the output", (folder: string) => mkdirSync(join(folder, "answer.txt"))],
  ])("%s has no events", async (_, make) => {
    make(runOf("turn-1"));
    expect((await reader().read(turn))?.events).toEqual([]);
  });

  test("an unknown turn, or an id that leads elsewhere, is null; a cursor of nonsense starts anew", async () => {
    expect(await reader().read({ loopId, turnId: "never" })).toBeNull();
    expect(await reader().read({ loopId, turnId: "../../.." })).toBeNull();
    writeFileSync(join(runOf("turn-1"), "answer.txt"), "one\n");
    expect((await reader().read(turn, { after: "nonsense" }))?.events).toHaveLength(1);
    rmSync(runOf("turn-1"), { recursive: true });
    expect(await reader().read(turn)).toBeNull();
  });
});
