import { describeAgent } from "../../support/agents/matrix.ts";

describeAgent({
  world: "opencode",
  agent: "opencode:acp",
  process: /opencode.* acp/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: "ends",
  takesTools: true,
  tokensOfTwo: [null, null],
});
