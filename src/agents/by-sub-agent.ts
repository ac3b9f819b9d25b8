/** An agent that passes each turn to a fresh sub-agent, because a story needs an empty context (C5). */
import type { Agent, Turn } from "../ports/agent.ts";

export function bySubAgent(agent: Agent): Agent {
  return {
    name: agent.name,
    run: (turn, control) => agent.run(handedOn(turn), control),
    reconcile: (turn, control) => agent.reconcile(handedOn(turn), control),
  };
}

function handedOn(turn: Turn): Turn {
  const { LOOP_ROLE: role = "agent", LOOP_STORY: story = "the story" } = turn.env;
  return {
    ...turn,
    text: `[LOOP] Backlog: the ${role} of ${story}.

Start one fresh sub-agent with your tool for that (Agent, general-purpose), and give it everything below the line as its prompt, word for word. Do nothing of it yourself, before or after. When it has finished, your last message is its last message, word for word, with nothing added. Only if you have no such tool, do it yourself, as if you knew nothing of what was said before.

--- below this line ---
${turn.text}`,
  };
}
