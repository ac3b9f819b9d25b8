/** Finds the places of a project that a text names. */

/** Files, folders, functions and addresses, exactly as in the text. */
export function placesIn(text: string): string[] {
  const found: string[] = [];
  for (const [span] of text.matchAll(SPAN)) {
    const bare = span.replace(/^[("'[<]+/, "").replace(/[)"'\]>,;:.!?]+$/, "");
    const place = span.includes(`${bare})`) && bare.endsWith("(") ? `${bare})` : bare;
    if (isPlace(place)) found.push(place);
  }
  const unit = NAMED_UNIT.exec(text);
  if (found.length === 0 && unit !== null) found.push(unit[0]);
  return found;
}

/** "all API routes": a set that can be counted. `isExact`: a word says which ones. */
export function countedSetIn(text: string): { readonly words: string; readonly isExact: boolean } | null {
  const [words, which = "", unit = ""] = COUNTED.exec(text) ?? [];
  if (words === undefined) return null;
  return { words, isExact: which.trim() !== "" && !/^(?:tests?|files?|warnings?|errors?)$/i.test(unit) };
}

/** Two words, not a path. */
const PAIR =
  /^(?:client\/server|server\/client|frontend\/backend|backend\/frontend|web\/mobile|app\/web|public\/private)$/i;

/** A word between spaces, or one piece of inline code. */
const SPAN = /`[^`\n]{1,120}`|[^\s`]{1,200}/g;
const URL = /^[a-z][a-z0-9+.-]*:\/\//i;
const EXTENSION =
  /\.(?:[cm]?[jt]sx?|json[c5]?|md|mdx|py|rb|rs|go|java|kt|kts|swift|c|h|cc|cpp|hpp|cs|php|ex|exs|erl|hs|ml|scala|clj|lua|sh|bash|zsh|ps1|sql|ya?ml|toml|ini|cfg|conf|env|xml|html?|css|scss|sass|less|vue|svelte|astro|graphql|proto|tf|gradle|lock|txt|csv|ipynb|svg)(?::\d+(?::\d+)?)?$/i;
/** Project names that look like files. */
const NOT_A_FILE =
  /^(?:node|next|nuxt|vue|express|three|d3|react|angular|ember|backbone|chart|p5|socket)\.js$/i;
const ROOTS =
  /^(?:src|lib|libs|app|apps|packages?|tests?|spec|specs|e2e|docs?|server|client|cmd|internal|pkg|api|web|scripts?|bin|config|components|pages|crates|examples?|public|assets|tools|infra|\.github|\.ci|__tests__|backend|frontend|services?|modules?|core|db|migrations)\//i;
const WELL_KNOWN = /^(?:Makefile|Dockerfile|README|CHANGELOG|Gemfile|Rakefile|Procfile|Jenkinsfile)$/;
const NAMED_UNIT =
  /\b(?!(?:the|a|an|this|that|each|every|any|all|of|in)\b)[\w-]{2,40} (?:function|method|class|endpoint|struct|constructor)\b/i;
const UNITS =
  "routes?|endpoints?|handlers?|components?|controllers?|services?|models?|queries|hooks?|pages?|forms?|functions?|methods?|class(?:es)?|commands?|modules?|packages?|screens?|tables?|views?|templates?|imports?|usages?|call sites?|callers?|tests?|files?|buttons?|strings?|images?|links?|warnings?|jobs?|workflows?|scripts?|schemas?|types?|exports?|callbacks?";
const COUNTED = new RegExp(
  `\\b(?:all|every|each)\\s+(?:of\\s+)?(?:the\\s+|our\\s+)?(?:existing\\s+)?((?:(?!the\\b|and\\b|to\\b)[\\w/.-]{1,30}\\s+){0,3}?)(${UNITS})\\b`,
  "i",
);

function isPlace(span: string): boolean {
  if (span.startsWith("`")) return !/\s/.test(span.trim()) && span.length > 2;
  if (URL.test(span) || !/[a-z]/i.test(span) || NOT_A_FILE.test(span) || PAIR.test(span)) return false;
  if (EXTENSION.test(span) && /^[\w@./:*{},[\]-]+$/.test(span)) return true;
  if (WELL_KNOWN.test(span) || /^[\w.$]+\(\)$/.test(span)) return true;
  if (/^(?:\.{0,2}|~)\/[\w@:{}[\]*.-]{2,}/.test(span) || ROOTS.test(span)) return true;
  if (/^[\w@.*-]+(?:\/[\w@.*{}-]+){2,}\/?$/.test(span) || /^[\w.-]+(?:\/[\w.-]+)*\/$/.test(span)) return true;
  if (/^@[\w-]+\/[\w-]+$/.test(span) || /^[A-Z]\w*(?:#|::)\w+$/.test(span)) return true;
  return isIdentifier(span);
}

function isIdentifier(span: string): boolean {
  if (/^(?:iOS|macOS|iPhone|iPad|eBay|iCloud|tvOS|watchOS|pH|gRPC|jQuery|npm)$/.test(span)) return false;
  return /^[a-z]{2,}(?:[A-Z][a-z0-9]+)+$/.test(span) || /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/i.test(span);
}
