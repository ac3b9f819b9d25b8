import { createCodexAgent } from "../../../src/agents/codex/cli.ts";
import { VERDICT_SCHEMA } from "../../../src/core/claims/claims.ts";
import { describeAgent } from "../../support/agents/matrix.ts";
import { describeStream } from "./stream-table.ts";

describeStream({
  world: "codex",
  create: createCodexAgent,
  program: "codex",
  process: /codex exec /,
  // its sandbox is what keeps it in
  otherCommand: "run",
  tellsCost: false,
  answerSchema: VERDICT_SCHEMA,
  errors: { 401: "auth", 429: "quota", 500: "outage" },
});

describeAgent({
  world: "codex",
  agent: "codex:stream",
  process: /codex exec /,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: null,
});
