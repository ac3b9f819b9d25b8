import type { Turn } from "../../ports/agent.ts";
import type { Seat } from "./seat.ts";

/** What goes into the conversation for a turn. `isDirected`: the directive that waited goes with it. */
export function turnText(
  turn: Turn,
  { directive, session }: Seat["record"],
): { readonly text: string; readonly isDirected: boolean } {
  const isDirected = turn.env.LOOP_KIND === "work" && directive !== null;
  // what was said before was said in another conversation
  const isFresh = turn.conversation !== null && turn.conversation.id !== session;
  const prompt = isFresh ? (turn.textIfFresh ?? turn.text) : turn.text;
  return { text: isDirected ? `${directive}\n\n${prompt}` : prompt, isDirected };
}
