/** GitHub Copilot CLI as it is: loops go on in its conversations by its own hooks. */
import { loopsIn } from "../../support/goals/loops-in-client.ts";

loopsIn({
  name: "copilot",
  word: "/loopwright",
  args: (prompt) => ["--allow-all-tools", "-p", prompt],
  tokens: 1_050,
});
