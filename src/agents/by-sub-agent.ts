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

Start one fresh sub-agent with your Agent tool (general-purpose). Its prompt is everything below the line, word for word. Do no part of this work yourself, before or after. When the sub-agent has finished, repeat its last message word for word as your last message, and add nothing. If you have no such tool, do the work yourself and ignore everything that was said before.

--- below this line ---
${turn.text}`,
  };
}
