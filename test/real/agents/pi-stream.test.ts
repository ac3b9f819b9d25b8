import { createPiAgent } from "../../../src/agents/pi/rpc.ts";
import { describeStream, type StreamCandidate } from "./stream-table.ts";

const pi: Omit<StreamCandidate, "world"> = {
  create: createPiAgent,
  program: "pi",
  process: /^pi\b|pi --mode rpc/,
  // it asks for nothing, and nothing keeps it in
  otherCommand: "run",
  tellsCost: true,
  errors: { 401: "auth", 429: "quota", 500: "outage" },
};

describeStream({ ...pi, world: "pi" });
describeStream({ ...pi, world: "pi-next" });
