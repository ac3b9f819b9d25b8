/** Codex as it is: loops go on in its conversations by its own hooks. */
import { loopsIn } from "../support/loops-in-client.ts";

loopsIn({
  name: "codex",
  word: "$loop",
  // as one who has trusted the hooks
  args: (prompt) => ["exec", "--json", "--dangerously-bypass-hook-trust", prompt],
  tokens: 1_050,
});
