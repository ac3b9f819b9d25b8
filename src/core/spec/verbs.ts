/** The vocabulary for reading a spec: verbs that ask for work, and words without meaning. */

/** `concrete`: the result is visible. `repair`: something must work again. `soft`: more or less of something. */
export type VerbKind = "concrete" | "repair" | "soft";

export interface Verb {
  readonly name: string;
  /** As in the clause. */
  readonly text: string;
  readonly kind: VerbKind;
  /** The text after the verb. */
  readonly object: string;
}

/** The first verb of a clause, after words such as "please". */
export function leadingVerb(clause: string): Verb | null {
  const lead = LEAD_IN.exec(clause)?.[0].length ?? 0;
  const match = VERB.exec(clause.slice(lead));
  if (match === null) return null;
  const [text] = match;
  const name = text.toLowerCase();
  const kind = KINDS.get(name);
  return kind === undefined ? null : { name, text, kind, object: clause.slice(lead + text.length).trim() };
}

/** The runs of words that name a subject: "dark mode toggle". */
export function contentRuns(text: string): string[] {
  const runs: string[] = [];
  let from = -1;
  let to = -1;
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    const isApart = /[^\s]/.test(text.slice(to < 0 ? match.index : to, match.index));
    if (!isContent(token) || isApart) {
      if (from >= 0) runs.push(text.slice(from, to));
      from = -1;
    }
    if (!isContent(token)) continue;
    if (from < 0) from = match.index;
    to = match.index + token.length;
  }
  if (from >= 0) runs.push(text.slice(from, to));
  return runs;
}

/** Whether the text has a word that names a subject. */
export function isContent(text: string): boolean {
  for (const [token] of text.matchAll(TOKEN)) {
    const word = token.toLowerCase().replace(/['’]s$/, "");
    if (!STOP.has(word) && !GENERIC.has(word) && !METRIC.has(word) && /[\p{L}\d]/u.test(word)) return true;
  }
  return false;
}

export function isEnglish(text: string): boolean {
  return ENGLISH.test(text);
}

export function metricIn(text: string): string | null {
  for (const [token] of text.matchAll(TOKEN)) if (METRIC.has(token.toLowerCase())) return token;
  return null;
}

const TOKEN = /[a-z]+:\/\/\S+|#\d+|[\p{L}\p{N}_][\p{L}\p{N}_'’./@*()-]*[\p{L}\p{N}_)*]|[\p{L}\p{N}]/gu;

const list = (words: string): string[] => words.trim().split(/\s+/);

const CONCRETE = list(`
  accept adapt add allow annotate apply automate batch bind block build bump bundle cache call change check
  cherry-pick clear clone close collect commit compare compile compress configure connect consolidate
  convert copy count cover create debounce decouple deduplicate define delay delete deploy deprecate derive
  describe design detect develop disable display document drop edit embed emit enable encrypt enforce ensure
  escape expand explain export expose extract fetch filter find fork format generate group handle hash hide
  highlight implement import include index initialize inline insert install instrument integrate introduce
  isolate join lazy-load limit link list load lock log map mark measure memoize merge migrate minify mock
  modify monitor move normalize notify open paginate parallelize parse persist pin port prefix preload
  prevent print provide publish pull purge push put query queue read record redesign redirect refactor
  register reject release remove rename render reorganise reorganize replace reset restore restructure retry
  return reuse revert review rewrite roll rotate route run sanitize save scaffold scan search seed send
  separate serialize serve set setup shorten show sign skip sort split squash start stop store stream strip
  stub substitute summarise summarize support swap switch sync tag test throttle throw trace translate
  trigger trim truncate turn type unify unlock unpin unwrap update upgrade upload use validate verify
  version visualize warn watch wipe wire wrap write
`);
const REPAIR = list("fix debug repair resolve solve correct patch unbreak investigate diagnose troubleshoot");
const SOFT = list(`
  improve optimize optimise enhance polish tidy increase reduce raise lower tune modernize modernise make get keep
  simplify harden streamline better beautify decrease boost maximize minimize clean cleanup
`);
const TWO_WORDS: readonly (readonly [string, VerbKind])[] = [
  ["clean up", "soft"],
  ["speed up", "soft"],
  ["set up", "concrete"],
  ["tidy up", "soft"],
  ["look into", "repair"],
  ["get rid of", "concrete"],
  ["work on", "soft"],
];

const KINDS: ReadonlyMap<string, VerbKind> = new Map([
  ...CONCRETE.map((name) => [name, "concrete"] as const),
  ...REPAIR.map((name) => [name, "repair"] as const),
  ...SOFT.map((name) => [name, "soft"] as const),
  ...TWO_WORDS,
]);

const LEAD_IN =
  /^(?:(?:please|and|then|also|first|second|next|finally|now|just|loop|can you|could you|would you|as an? [a-z ]{1,20},? i want to|i want you to|i want to|i['’]d like you to|we need to|we should|you should|you must|we must|need to|let['’]s|lets|help me|go and|try to|to)[\s,:-]+){0,4}/i;
const VERB =
  /^(?:(?:clean|speed|set|tidy|look|work) (?:up|into|on)|get rid of|[a-z]+(?:-[a-z]+)?)(?![\w./(-])/i;

/** Splits "fix a and add b", but not "login and test pages". */
export const VERB_AFTER_AND = `(?:${[
  ...TWO_WORDS.map(([name]) => name),
  ...REPAIR,
  ...list(`add implement create write introduce rename replace remove delete move extract convert migrate port upgrade
    update bump refactor rewrite expose generate document configure enable disable publish deploy
    improve optimize optimise simplify reorganize reorganise restructure install integrate make push run use`),
].join("|")})\\s`;

const STOP = new Set(
  list(`
  the a an of to in on at for from with and or but by as is are be been was were do does did done it its this that
  these those them they their there here we our us you your i my me he she so than then when where which who what how
  why if else not no nor can could should would will shall may might must have has had into onto out over under up
  down off only also just very really too please any some each every all both few more most other such own same via
  per about after before again because while until without within between through during it's don't doesn't can't
  isn't let's be able use using used make makes made sure etc e.g i.e new existing current currently always never
  still now ll re ve s t whole entire full complete completely everywhere
`),
);

/** Words without a specific meaning. */
const GENERIC = new Set(
  list(`
  app apps application code codebase project projects repo repository software system website site program product
  thing things stuff everything anything something nothing problem problems issue issues bug bugs error errors mistake
  mistakes feature features functionality work works working job task tasks better good great nice nicer best clean
  cleaner perfect awesome modern robust proper properly correct correctly right well production-ready improvement
  improvements change changes way ways lot bit part parts file files one ones result results fix fixes broken bad ugly
  improved look looks feel feels see whatever think want wants continue go going stop world cool amazing professional beautiful polished solid shiny needed necessary possible
`),
);

/** Qualities without a place or a target. */
const METRIC = new Set(
  list(`
  performance speed latency throughput coverage quality readability maintainability accessibility security
  reliability stability scalability usability seo faster slower slow fast quicker smaller memory efficiency
  efficient lighthouse score
`),
);

const ENGLISH =
  /\b(?:the|is|are|of|and|with|for|when|that|this|can['’]?t|cannot|doesn['’]?t|does|not|to|it|should|must|no|all|have|has|be)\b/i;
