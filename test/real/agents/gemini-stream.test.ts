import { createGeminiAgent } from "../../../src/agents/gemini/cli.ts";
import { describeStream } from "./stream-table.ts";

describeStream({
  world: "gemini",
  create: createGeminiAgent,
  program: "gemini",
  process: /gemini --output-format/,
  otherCommand: "denied",
  tellsCost: false,
  errors: { 401: "auth", 429: "quota", 500: "outage" },
});
