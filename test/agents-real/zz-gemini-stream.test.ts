import { describeAgent } from "../support/agents/matrix.ts";

describeAgent({
  world: "gemini",
  agent: "gemini:stream",
  process: /gemini --output-format/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: null,
});
