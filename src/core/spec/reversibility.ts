/**
 * How hard it is to undo the work of a spec (B4): 2A takes a minute, 2B five minutes, 1 hours or for ever. Constraints
 * and paths do not count: `src/api/users.ts` says nothing about a public API.
 */
import type { Reversibility } from "../goal/goal.ts";
import { type Clause, readClauses } from "./clauses.ts";
import { placesIn } from "./places.ts";

interface ReversibilityChoice {
  readonly reversibility: Reversibility;
  /** The words of the spec that decided; empty: none, so it is 2B. */
  readonly words: readonly string[];
}

/** The hardest kind of work decides. */
export function decideReversibility(spec: string): ReversibilityChoice {
  const asked = readClauses(spec).filter(isAsked);
  const hard = wordsIn(asked, HARD);
  if (hard.length > 0) return { reversibility: "1", words: hard };
  const work = wordsIn(asked, WORK);
  if (work.length > 0) return { reversibility: "2B", words: work };
  const light = wordsIn(asked, LIGHT);
  return light.length > 0 ? { reversibility: "2A", words: light } : { reversibility: "2B", words: [] };
}

const MAX_WORDS = 3;

const STORED =
  "(?:tables?|databases?|dbs?|columns?|rows?|records?|collections?|indexes|backups?|buckets?|volumes?|(?:user|customer|production|prod|personal|old|all|the|historical|live)\\s+data|data|accounts?|users?|customers?|tenants?|topics?|queues?|branches)";

const HARD: readonly RegExp[] = [
  /\b(?:db|database|sql|postgres\w*|mysql|sqlite|mongo\w*|table|prisma)\s+(?:schemas?|migrations?)\b/i,
  /\b(?:schema|data|database)\s+(?:changes?|migrations?)\b/i,
  /\b(?:change|alter|modify|migrate|update|redesign|extend)\s+(?:the\s+|our\s+)?(?:\w+\s+)?schemas?\b(?<!\b(?:zod|json|validation|graphql|yup|joi|avro|openapi|form|test)\s+schemas?)/i,
  /\balter\s+tables?\b|\brename\s+(?:the\s+)?(?:[\w"'`]+\s+){0,2}tables?\b(?!\s+(?:component|header|view))/i,
  /\b(?:add|drop|rename|remove|delete)\s+(?:a\s+|the\s+|an\s+)?(?:[\w"'`.]+\s+){0,3}columns?\b(?!\s+(?:component|header|layout|width|view))/i,
  /\bmigrate\s+(?:all\s+|the\s+|our\s+|existing\s+)*(?:[\w-]+\s+)?(?:data|databases?|users|customers|records|accounts|production)\b/i,
  new RegExp(
    `\\b(?:drop|delete|truncate|purge|wipe|erase|destroy|remove)\\s+(?:all\\s+|the\\s+|our\\s+|old\\s+|every\\s+|stale\\s+|inactive\\s+|orphaned\\s+|unused\\s+)*(?:(?!test|mock|fake|sample|dummy|seed|fixture)[\\w"'-]+\\s+(?:from\\s+)?){0,2}?${STORED}\\b(?!\\s+(?:component|page|model|class|function|test|tests|type|types|helper|hook|view|field|menu|icon|fetching|layer))`,
    "i",
  ),
  /\bpublic\s+(?:api|apis|interface|endpoint|endpoints|contract)\b(?!\s+(?:client|docs?|documentation))/i,
  /\bbreaking\s+(?:api\s+)?changes?\b/i,
  /(?:^|\b(?:and|then|to|please|also)\s+)(?:publish|release|deploy|ship|roll out|launch)\b(?!\s+(?:notes?|scripts?|workflow|pipeline|page|config|job|button|process|docs?|target|step|manifests?))/i,
  /\b(?:publish(?:ed)?|released?|deploy(?:ed)?)\s+(?:it\s+|this\s+|the\s+\w+\s+|a\s+new\s+version\s+)?(?:to|on|as)\s+\S+/i,
  /\bforce[- ]?push\w*|\bpush\s+(?:--force|-f)\b|\brewrite\s+(?:the\s+)?(?:git\s+)?history\b|\bgit\s+(?:reset\s+--hard|filter-branch|filter-repo)\b/i,
  /\brm\s+-rf?\b/i,
  /\b(?:payments?|billing|invoices?|refunds?|payouts?|charge\s+(?:the\s+)?customers?|stripe|paypal)\b/i,
  /\b(?:credentials?|secrets?|api\s+keys?|private\s+keys?|access\s+keys?|signing\s+keys?|encryption\s+keys?)\b/i,
  /\b(?:run|execute|apply|push|restart|roll|migrate|change|edit|update)\b.{0,40}\b(?:on|in|to|against)\s+(?:the\s+)?prod(?:uction)?\b(?!\s+(?:build|mode|bundle))/i,
  /\bsend\s+(?:an?\s+|the\s+)?(?:e-?mails?|sms|newsletter|notifications?)\s+to\s+(?:all|our|every|the|customers|users)\b/i,
];

const WORK: readonly RegExp[] = [
  /\b(?:dependenc(?:y|ies)|deps|packages?|upgrade|downgrade|bump|install)\b/i,
  /\b(?:refactor\w*|restructur\w+|reorgani[sz]\w+|migrate|rewrite|port|extract|implement|build|convert|replace|delete|remove)\b/i,
  /\b(?:bugs?|crash\w*|broken|failing|fails|flaky|logic|algorithm|performance|latency)\b/i,
];

const LIGHT: readonly RegExp[] = [
  /\b(?:typos?|spelling|wording|grammar|comments?|docstrings?|jsdoc|whitespace|indentation|formatting|copy text)\b/i,
  /\b(?:docs?|documentation|readme|changelog|licen[cs]e|release notes?)\b/i,
  /\brenam(?:e|es|ing)\b/i,
  /\b(?:change|update|edit|set|adjust|tweak|fix|enable|disable|turn)\b.{0,40}?\b(?:config(?:uration)?|settings?)\b(?!\s+(?:loader|parser|module|class|code|page|screen|reader|service|system|panel|api))/i,
  /\b(?:tsconfig|editorconfig|gitignore)\b/i,
];

function isAsked({ kind, text }: Clause): boolean {
  if (kind === "constraint" || kind === "code") return false;
  return !/\b(?:do not|don['’]?t|never|must not|not)\s+(?:\w+\s+){0,2}?(?:deploy|publish|release|delete|drop|push)\b/i.test(
    text,
  );
}

function wordsIn(clauses: readonly Clause[], patterns: readonly RegExp[]): string[] {
  const found = clauses.flatMap((clause) => {
    const text = patterns === LIGHT ? clause.text : withoutPlaces(clause.text);
    return patterns.flatMap((pattern) => pattern.exec(text)?.[0].trim() ?? []);
  });
  return [...new Set(found)].slice(0, MAX_WORDS);
}

/** Replaces each path by a line break, so that no quote spans it. */
function withoutPlaces(text: string): string {
  const paths = placesIn(text).filter((place) => /[/._]/.test(place));
  return paths.reduce((rest, place) => rest.replace(place, "\n"), text);
}
