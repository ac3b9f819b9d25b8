/** opencode: our own plugin calls the hook, so the format is ours. See `install/opencode-plugin.ts`. */
import type { Usage } from "../../../core/base.ts";
import { countOf, type Fields, isFields, textOf } from "../../conversation/fields.ts";
import { readNamed, type StopClient, type Told } from "./client.ts";

export const opencode: StopClient = {
  name: "opencode",
  title: "opencode",
  commandName: "/loop",
  cap: 0,
  givesContext: true,
  steers: false,
  read,
  render: (_event, answer) => (answer.kind === "nothing" ? "" : JSON.stringify(answer)),
  readTurn: null,
};

const ENDS = ["interrupted", "failed"] as const;

function read(input: Fields): Told {
  const told = readNamed(input, { session: "session", answer: "answer" });
  const { answer } = told;
  return {
    ...told,
    facts: { answer, toolCalls: countOf(input, "toolCalls"), usage: usageOf(input.usage) },
    end: ENDS.find((end) => end === input.end) ?? "ok",
  };
}

/** opencode reports a cost for known models only; 0 means unknown. */
function usageOf(usage: unknown): Usage | null {
  if (!isFields(usage)) return null;
  const [cost, cached, model] = [countOf(usage, "cost"), countOf(usage, "cached"), textOf(usage, "model")];
  return {
    costUsd: cost > 0 ? cost : null,
    inputTokens: countOf(usage, "input") + cached,
    outputTokens: countOf(usage, "output"),
    ...(model === "" ? {} : { model }),
    ...(cached > 0 ? { cacheReadTokens: cached } : {}),
  };
}
