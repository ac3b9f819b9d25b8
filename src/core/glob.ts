/**
 * Globs over paths with `/`: `*` and `?` within a name, `**` across folders, `{a,b}`, `[a-z]`, `[!a-z]`, and `\` before a
 * literal character. A leading dot is not special. A glob without `/` matches at any depth; otherwise it starts at the
 * root. A glob that ends with a plain name also matches everything in a folder of this name.
 *
 * An automaton follows all states at once, so the time is at most the length of the path times the length of the glob.
 */
export type GlobMatcher = (path: string) => boolean;

export function matchesGlob(path: string, glob: string): boolean {
  return compileGlob(glob)(path);
}

export function compileGlobs(globs: readonly string[]): GlobMatcher {
  const matchers = globs.map(compileGlob);
  return (path) => matchers.some((matches) => matches(path));
}

export function compileGlob(glob: string): GlobMatcher {
  const plain = plainMatcher(glob);
  if (plain !== null) return plain;
  const program = compile(parse(glob));
  return (path) => run(program, path);
}

/** A line of text instead of a path: only `*` is special, and it matches only characters that are `inStar`. */
export function matchesStars(line: string, glob: string, inStar: Test): boolean {
  const parts = [...glob].map(
    (each): Part => (each === "*" ? { kind: "many", test: inStar } : literal(each)),
  );
  return run(compile(parts), line);
}

/** Most globs are a name or an ending and need no automaton. */
function plainMatcher(glob: string): GlobMatcher | null {
  const [, ending] = /^\*([^*?[\]{}\\/]+)$/.exec(glob) ?? [];
  if (ending !== undefined) return (path) => path.endsWith(ending);
  if (!/^[^*?[\]{}\\/]+$/.test(glob)) return null;
  return (path) => `/${path}/`.includes(`/${glob}/`);
}

type Test = (character: string) => boolean;

type One = { readonly kind: "one"; readonly test: Test };

type Part =
  | One
  | { readonly kind: "many"; readonly test: Test }
  | { readonly kind: "either"; readonly options: readonly (readonly Part[])[] };

/** Behind the last step the whole glob has matched. */
type Step = One | { readonly kind: "fork"; readonly to: readonly number[] };

const ANY: Test = () => true;
const IN_NAME: Test = (character) => character !== "/";
const literal = (wanted: string): Part => ({ kind: "one", test: (character) => character === wanted });
const optional = (...parts: readonly Part[]): Part => ({ kind: "either", options: [[], parts] });
/** Any number of folders, also none. */
const FOLDERS = optional({ kind: "many", test: ANY }, literal("/"));
const ALL_IN_IT: readonly Part[] = [literal("/"), { kind: "one", test: ANY }, { kind: "many", test: ANY }];

function parse(glob: string): readonly Part[] {
  const isFolder = /[^\\]\/$/.test(glob);
  const bare = (isFolder ? glob.slice(0, -1) : glob).replace(/^(?:\.?\/)+/, "");
  const isAnchored = bare.includes("/") || /^\.?\//.test(glob);
  const parts = new Parser(bare).sequence(false);
  const last = bare.slice(bare.lastIndexOf("/") + 1);
  const isPlain = !/[*?[\]{}]/.test(last);
  return [
    ...(isAnchored ? [] : [FOLDERS]),
    ...parts,
    ...(isFolder ? ALL_IN_IT : isPlain ? [optional(...ALL_IN_IT)] : []),
  ];
}

class Parser {
  private readonly characters: readonly string[];
  private at = 0;

  constructor(glob: string) {
    this.characters = [...glob];
  }

  /** Reads up to the end; inside braces, up to the next comma or closing brace. */
  sequence(inBraces: boolean): Part[] {
    const parts: Part[] = [];
    for (;;) {
      const character = this.characters[this.at];
      if (character === undefined || (inBraces && ",}".includes(character))) return parts;
      parts.push(this.part(character));
    }
  }

  private part(character: string): Part {
    if (character === "*") return this.stars();
    const group = character === "[" ? this.choice() : character === "{" ? this.braces() : null;
    if (group !== null) return group;
    this.at++;
    if (character === "?") return { kind: "one", test: IN_NAME };
    if (character !== "\\") return literal(character);
    return literal(this.characters[this.at++] ?? "\\");
  }

  private stars(): Part {
    const before = this.characters[this.at - 1];
    const from = this.at;
    while (this.characters[this.at] === "*") this.at++;
    const after = this.characters[this.at];
    const isWhole = [undefined, "/", "{", ","].includes(before) && [undefined, "/", "}", ","].includes(after);
    if (this.at - from < 2 || !isWhole) return { kind: "many", test: IN_NAME };
    if (after !== "/") return { kind: "many", test: ANY };
    this.at++;
    return FOLDERS;
  }

  /** null: the bracket is never closed, so it is a literal. */
  private choice(): Part | null {
    let at = this.at + 1;
    const isNegated = ["!", "^"].includes(this.characters[at] ?? "");
    if (isNegated) at++;
    const ranges: (readonly [string, string])[] = [];
    for (let first = true; ; first = false) {
      let low = this.characters[at++];
      if (low === undefined) return null;
      if (low === "]" && !first) break;
      if (low === "\\") low = this.characters[at++] ?? "\\";
      const high = this.characters[at + 1];
      if (this.characters[at] === "-" && high !== undefined && high !== "]") {
        ranges.push([low, high]);
        at += 2;
      } else ranges.push([low, low]);
    }
    this.at = at;
    const isListed: Test = (character) => ranges.some(([low, high]) => low <= character && character <= high);
    return { kind: "one", test: (character) => character !== "/" && isListed(character) !== isNegated };
  }

  /** null: never closed. */
  private braces(): Part | null {
    if (!this.isClosed()) return null;
    const options: Part[][] = [];
    do {
      this.at++;
      options.push(this.sequence(true));
    } while (this.characters[this.at] === ",");
    this.at++;
    return { kind: "either", options };
  }

  private isClosed(): boolean {
    let depth = 0;
    for (let at = this.at; at < this.characters.length; at++) {
      const character = this.characters[at];
      if (character === "\\") at++;
      else if (character === "{") depth++;
      else if (character === "}" && --depth === 0) return true;
    }
    return false;
  }
}

function compile(parts: readonly Part[], steps: Step[] = []): readonly Step[] {
  for (const part of parts) {
    const start = steps.length;
    if (part.kind === "one") steps.push(part);
    else if (part.kind === "many") {
      const one: One = { kind: "one", test: part.test };
      steps.push({ kind: "fork", to: [start + 1, start + 3] }, one, { kind: "fork", to: [start] });
    } else compileEither(part.options, steps);
  }
  return steps;
}

function compileEither(options: readonly (readonly Part[])[], steps: Step[]): void {
  const starts: number[] = [];
  const exits: number[] = [];
  steps.push({ kind: "fork", to: starts });
  for (const option of options) {
    starts.push(steps.length);
    compile(option, steps);
    steps.push({ kind: "fork", to: exits });
  }
  exits.push(steps.length);
}

function run(steps: readonly Step[], path: string): boolean {
  let states = new Set<number>();
  enter(steps, 0, states);
  for (const character of path) {
    const next = new Set<number>();
    for (const state of states) {
      const step = steps[state];
      if (step?.kind === "one" && step.test(character)) enter(steps, state + 1, next);
    }
    if (next.size === 0) return false;
    states = next;
  }
  return states.has(steps.length);
}

function enter(steps: readonly Step[], first: number, states: Set<number>): void {
  const open = [first];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (states.has(state)) continue;
    states.add(state);
    const step = steps[state];
    if (step?.kind === "fork") open.push(...step.to);
  }
}
