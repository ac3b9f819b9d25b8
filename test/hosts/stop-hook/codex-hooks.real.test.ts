/** Codex as it is: loops go on in its conversations by its own hooks. */
import { loopsIn } from "../../support/goals/loops-in-client.ts";

/** Its sandbox makes an empty .git in every folder that it protects: not in the one that all tests share. */
const OWN_FOLDER = ["exclude_slash_tmp", "exclude_tmpdir_env_var"].flatMap((name) => [
  "-c",
  `sandbox_workspace_write.${name}=true`,
]);

loopsIn({
  name: "codex",
  word: "$loop",
  // as one who has trusted the hooks
  args: (prompt) => ["exec", "--json", "--dangerously-bypass-hook-trust", ...OWN_FOLDER, prompt],
  tokens: 1_050,
});
