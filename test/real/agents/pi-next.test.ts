import { describeAgent } from "../../support/agents/matrix.ts";

describeAgent({
  world: "pi-next",
  agent: "pi",
  process: /\bpi --mode rpc/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: null,
});
