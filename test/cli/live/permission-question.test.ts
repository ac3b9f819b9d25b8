/** What an agent asks leave for, put to the person at the terminal. */
import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { createPermissionDesk, type PermissionReply } from "../../../src/cli/live/permission-question.ts";
import type { PermissionRequest } from "../../../src/ports/agent.ts";

const RUN: PermissionRequest = { tool: "execute", title: "Run it", paths: [], command: "npm publish" };
const { signal } = new AbortController();

function desk(...answers: readonly (PermissionReply | null)[]) {
  const ask = vi.fn(async (_question: string) => answers[ask.mock.calls.length - 1] ?? null);
  return { ask, answer: createPermissionDesk(ask) };
}

test.each([
  ["once", "allow"],
  ["always", "allow"],
  ["no", "deny"],
  [null, "deny"],
] as const)("E3 the person says %s: %s", async (said, answer) => {
  expect(await desk(said).answer(RUN, signal)).toBe(answer);
});

test("E3 the question names the command or the files, and no control characters", async () => {
  const { ask, answer } = desk("no", "no", "no");
  await answer({ ...RUN, command: "rm -rf /\u001b[2K\necho" }, signal);
  await answer({ tool: "edit", title: "Edit", paths: ["/p/a", "/p/b"], command: null }, signal);
  await answer({ tool: "other", title: "Think hard", paths: [], command: null }, signal);
  expect(ask.mock.calls.map(([question]) => question)).toEqual([
    expect.stringMatching(/^The agent wants to run: rm -rf \/[^\p{Cc}]* echo\. Allow it\?$/u),
    "The agent wants to change: /p/a, /p/b. Allow it?",
    "The agent wants to use a tool: Think hard. Allow it?",
  ]);
});

test("E3 `always` is for this very thing", async () => {
  const { ask, answer } = desk("always", "no");
  await answer(RUN, signal);
  expect(await answer(RUN, signal)).toBe("allow");
  expect(await answer({ ...RUN, command: "npm publish --force" }, signal)).toBe("deny");
  expect(ask).toHaveBeenCalledTimes(2);
});

test("E3 two agents ask at once: one question at a time, and one that fails stops nobody", async () => {
  let open = 0;
  let most = 0;
  const answer = createPermissionDesk(async (question) => {
    most = Math.max(most, ++open);
    await Promise.resolve();
    open--;
    if (question.includes("first")) throw new Error("the terminal is gone");
    return "once";
  });
  const requests = ["first", "second", "third"].map((command) => answer({ ...RUN, command }, signal));
  expect(await Promise.all(requests)).toEqual(["deny", "allow", "allow"]);
  expect(most).toBe(1);
});

test("E3 a turn that was stopped meanwhile asks nobody", async () => {
  const { ask, answer } = desk("once");
  expect(await answer(RUN, AbortSignal.abort())).toBe("deny");
  expect(ask).not.toHaveBeenCalled();
});

test("E3 who waits behind the question of another is let go when its own turn is stopped", async () => {
  const answer = createPermissionDesk(() => new Promise(() => {}));
  const stopping = new AbortController();
  void answer(RUN, signal);
  const behind = answer({ ...RUN, command: "npm test" }, stopping.signal);
  stopping.abort();
  expect(await behind).toBe("deny");
});

test("E3 a turn that asks often leaves nothing on its signal", async () => {
  const { answer } = desk("always");
  const turn = new AbortController();
  for (let n = 0; n < 20; n++) expect(await answer(RUN, turn.signal)).toBe("allow");
  expect(getEventListeners(turn.signal, "abort")).toEqual([]);
});
