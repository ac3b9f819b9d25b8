import { expect, test } from "vitest";
import { AGENT_NAMES, parseAgentList, parseAgentName, renderAgentSpec } from "../../src/core/agents.ts";

test.each(AGENT_NAMES)("E3 %s is known by its name, and goes as it goes best", (name) => {
  expect(parseAgentName(name)).toEqual({ kind: "ok", agent: { name, driver: null } });
});

test.each([
  [["claude"], { kind: "named", name: "claude" }],
  [[" codex:acp "], { kind: "named", name: "codex:acp" }],
  [
    ["claude", "codex:stream"],
    {
      kind: "chain",
      agents: [
        { kind: "named", name: "claude" },
        { kind: "named", name: "codex:stream" },
      ],
    },
  ],
])("E3 %j is an agent, and is written as it was", (texts, spec) => {
  const parsed = parseAgentList(texts);
  expect(parsed).toEqual({ kind: "ok", spec });
  if (parsed.kind === "ok")
    expect(renderAgentSpec(parsed.spec)).toBe(texts.map((text) => text.trim()).join(","));
});

test.each([
  [["hal"], /^no agent is called "hal"; known: claude, /],
  [["codex:rpc"], /^codex has no such driver; known: codex:acp, codex:stream$/],
  [["codex:acp:x"], /^no agent is called/],
  [["claude", ""], /^no agent is called ""/],
  [["claude", "claude"], /^claude is named twice$/],
  [[], /^no agent is named$/],
])("H5 %j is none, in a sentence", (texts, message) => {
  expect(parseAgentList(texts)).toEqual({ kind: "invalid", message: expect.stringMatching(message) });
});
