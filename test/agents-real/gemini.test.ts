import { describeAgent } from "../support/agents/matrix.ts";

describeAgent({
  world: "gemini",
  agent: "gemini:acp",
  process: /gemini.* --acp/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: "told",
});
