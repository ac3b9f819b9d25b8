import { describe, expect, test } from "vitest";
import type { Told } from "../../../src/hosts/stop-hook/clients/client.ts";
import { CLIENTS } from "../../../src/hosts/stop-hook/clients/clients.ts";
import { clientEvent } from "../../../src/hosts/stop-hook/to-event.ts";

const TOLD: Told = CLIENTS.codex.read({ session_id: "s-1" });

describe("E5 what a client told, as an event of the conversation", () => {
  test.each<readonly [Parameters<typeof clientEvent>[0], Partial<Told>, string | null, object]>([
    ["stop", { answer: "done" }, null, { type: "stopped", answer: "done" }],
    ["stop", { answer: null }, null, { type: "stopped", answer: "" }],
    ["stop", { end: "interrupted" }, null, { type: "idle" }],
    ["stop", { end: "failed" }, null, { type: "failed", failure: { class: "outage" } }],
    ["prompt", { prompt: "hello" }, null, { type: "prompted", wake: null }],
    ["prompt", { prompt: "$loop list" }, "list", { type: "typed", words: "list" }],
    ["start", { source: "startup" }, null, { type: "session-started", isCompacted: false }],
    ["start", { source: "compact" }, null, { type: "session-started", isCompacted: true }],
    ["end", {}, null, { type: "session-ended" }],
    ["interrupt", {}, null, { type: "idle" }],
  ])("%s with %o", (event, told, words, expected) => {
    const made = clientEvent(event, { ...TOLD, ...told }, "p-1", words);
    expect(made).toMatchObject({ promptId: "p-1", transcript: null, ...expected });
  });
});
