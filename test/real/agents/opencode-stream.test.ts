import { createOpencodeAgent } from "../../../src/agents/opencode/cli.ts";
import { describeStream } from "./stream-table.ts";

describeStream({
  world: "opencode",
  create: createOpencodeAgent,
  program: "opencode",
  process: /opencode run /,
  otherCommand: "denied",
  tellsCost: true,
  errors: { 401: "auth", 429: "quota", 500: "outage" },
});
