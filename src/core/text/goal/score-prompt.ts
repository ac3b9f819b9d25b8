/** What an agent is asked that scores a spec instead of the rules (B1). */
import { quote } from "../quote.ts";

export function renderScorePrompt(spec: string): string {
  return [
    "Score how clear this spec is for an agent that works alone. Do nothing else: do not carry it out.",
    "",
    quote(spec, null),
    "",
    "Five dimensions, 0 to 2 each:",
    '- outcome: 0 vague ("make it better"), 1 a direction ("improve performance"), 2 a measurable target ("p95 latency < 100 ms")',
    '- scope: 0 everything ("fix the app"), 1 a module ("fix auth"), 2 files or functions ("fix /api/auth/token")',
    '- constraints: 0 none, 1 general ("use the existing stack"), 2 explicit ("no new dependencies, under 500 lines")',
    '- success: 0 none, 1 one way to tell ("tests pass"), 2 several',
    '- done: 0 implied, 1 vague ("when it works"), 2 an end that can be seen ("PR merged to main")',
    "",
    "Give points only for words that are there. End your answer with one line of JSON and nothing behind it:",
    '{"outcome":{"score":0,"words":["quotes that earned it"],"raise":"what would raise it"},"scope":{…},"constraints":{…},"success":{…},"done":{…}}',
  ].join("\n");
}
