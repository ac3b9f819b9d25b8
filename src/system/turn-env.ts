/** Variables that belong to one turn or check only. */
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

/** Removes the variables of an outer turn: an agent may have started this process. */
export function withoutTurn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = { ...env };
  for (const name of OF_A_TURN) delete rest[name];
  return rest;
}
