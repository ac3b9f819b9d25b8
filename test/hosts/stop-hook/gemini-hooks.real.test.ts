/** Gemini CLI as it is: loops go on in its conversations by its own hooks. */
import { loopsIn } from "../../support/goals/loops-in-client.ts";

loopsIn({
  name: "gemini",
  word: "/loop",
  args: (prompt) => ["--approval-mode", "yolo", "--output-format", "stream-json", "-p", prompt],
  tokens: 1_050,
  isShy: true,
});
