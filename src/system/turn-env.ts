/** What a turn or a check finds in its environment belongs to it alone. */
const OF_A_TURN = [
  "LOOP_ID",
  "LOOP_FIRE_ID",
  "LOOP_KIND",
  "LOOP_SLOT",
  "LOOP_ITERATION",
  "LOOP_NONCE",
  "LOOP_ROLE",
  "LOOP_STORY",
  "LOOP_MODEL",
  "LOOP_PROMPT_FILE",
  "LOOP_PROJECT",
  "LOOP_TOOLS_URL",
  "LOOP_TOOLS_AUTH",
];

/** The environment without what an outer turn put there: this process may itself be one that an agent started. */
export function withoutTurn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = { ...env };
  for (const name of OF_A_TURN) delete rest[name];
  return rest;
}
