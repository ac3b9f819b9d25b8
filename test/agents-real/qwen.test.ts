import { describeAgent } from "../support/agents/matrix.ts";

describeAgent({
  world: "qwen",
  agent: "qwen",
  process: /qwen.* --acp/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: "told",
});
