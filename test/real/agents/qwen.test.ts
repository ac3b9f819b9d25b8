import { describeAgent } from "../../support/agents/matrix.ts";

describeAgent({
  world: "qwen",
  agent: "qwen",
  process: /qwen.* --acp/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: "ends",
  takesTools: true,
  // seven times, with pauses of up to 30 s that nothing makes shorter
  triesAgainMs: 90_000,
  onDemand: true,
});
