import { createOpencodeAgent } from "../../src/agents/opencode-cli.ts";
import { describeStream } from "./stream-table.ts";

describeStream({
  world: "opencode",
  create: createOpencodeAgent,
  program: "opencode",
  process: /opencode run /,
  otherCommand: "denied",
  tellsCost: true,
  // an outage it tries to sit out for more than a minute
  errors: { 401: "auth", 429: "quota" },
});
