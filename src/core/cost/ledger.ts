/**
 * Usage by session, loop and story (D7). Entries come from many processes, in any order and more than once.
 *
 * 1. An id counts once, with the largest figures: a client writes a growing answer several times. So the order of
 *    entries does not matter, and repeating an entry changes nothing.
 * 2. An id stays with its first session, loop and story, because a forked conversation repeats earlier answers.
 */
interface Common {
  readonly id: string;
  readonly at: number;
  readonly session: string;
  readonly loop?: string;
  readonly story?: string;
}

interface PaidTokens {
  /** Without cache reads and writes. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** One answer of a model, from the client's records. */
export interface UsageEntry extends Common, PaidTokens {
  readonly kind: "usage";
  readonly iteration?: number;
  readonly model: string;
  /** The growth of the conversation: new text since the last answer, and this answer. */
  readonly addedTokens?: number;
  readonly costUsd?: number;
}

export interface ToolEntry extends Common {
  readonly kind: "tool";
  readonly tool: string;
  readonly ok: boolean;
  readonly ms?: number;
}

export type LedgerEntry = UsageEntry | ToolEntry;

interface Tokens extends PaidTokens {
  /** Every text counts once, when it enters the conversation. Each call pays for the whole conversation again. */
  readonly addedTokens: number;
}

interface Amounts extends Tokens {
  /** null: no cost was reported. */
  readonly costUsd: number | null;
}

export interface Totals extends Amounts {
  /** Answers of a model. */
  readonly turns: number;
  readonly toolCalls: number;
  readonly failedToolCalls: number;
}

export const NOTHING_USED: Totals = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  addedTokens: 0,
  costUsd: null,
  turns: 0,
  toolCalls: 0,
  failedToolCalls: 0,
};

export interface LedgerCell {
  readonly session: string;
  readonly loop: string | null;
  readonly story: string | null;
  readonly totals: Totals;
}

/** What was counted for an id. `amounts` is null for a tool call. `segment` is the file of the entry. */
export interface Counted {
  readonly cell: number;
  readonly segment: number;
  readonly amounts: Amounts | null;
}

export interface LedgerFold {
  readonly cells: readonly LedgerCell[];
  readonly counted: ReadonlyMap<string, Counted>;
}

export const EMPTY_FOLD: LedgerFold = { cells: [], counted: new Map() };

export interface LedgerPart {
  readonly segment: number;
  readonly entries: readonly LedgerEntry[];
}

export function foldLedger(fold: LedgerFold, parts: readonly LedgerPart[]): LedgerFold {
  const cells = [...fold.cells];
  const counted = new Map(fold.counted);
  const places = placesOf(cells);
  for (const { segment, entries } of parts) {
    for (const entry of entries) {
      const before = counted.get(entry.id);
      if (before === undefined) {
        const cell = cellFor(entry, cells, places);
        const amounts = entry.kind === "usage" ? amountsOf(entry) : null;
        if (entry.kind === "usage") add(cells, cell, { ...amounts, turns: 1 });
        else add(cells, cell, { toolCalls: 1, failedToolCalls: Number(!entry.ok) });
        counted.set(entry.id, { cell, segment, amounts });
      } else if (before.amounts !== null && entry.kind === "usage") {
        const amounts = larger(before.amounts, amountsOf(entry));
        add(cells, before.cell, difference(amounts, before.amounts));
        counted.set(entry.id, { ...before, amounts });
      }
    }
  }
  return { cells, counted };
}

/** Forgets the ids of old files. Their totals stay. */
export function forgetSegments(fold: LedgerFold, before: number): LedgerFold {
  if (before <= 1) return fold;
  const kept = [...fold.counted].filter(([, { segment }]) => segment >= before);
  return { ...fold, counted: new Map(kept) };
}

/** Restores forgotten ids with their counted amounts, from the lines that contain them. */
export function recallIds(fold: LedgerFold, lines: readonly LedgerEntry[], segment: number): LedgerFold {
  const { cells, counted } = foldLedger(EMPTY_FOLD, [{ segment, entries: lines }]);
  const places = placesOf(fold.cells);
  const known = new Map(fold.counted);
  for (const [id, one] of counted) {
    const cell = cells[one.cell];
    const at = cell === undefined ? undefined : places.get(placeOf(cell));
    if (at !== undefined && !known.has(id)) known.set(id, { ...one, cell: at });
  }
  return { cells: fold.cells, counted: known };
}

interface LedgerView {
  readonly sessions: Readonly<Record<string, Totals>>;
  readonly loops: Readonly<Record<string, Totals>>;
  /** Two loops may have stories of the same name. */
  readonly stories: readonly ({ readonly loop: string | null; readonly story: string } & Totals)[];
}

export function viewLedger({ cells }: LedgerFold): LedgerView {
  const sessions = new Map<string, Totals>();
  const loops = new Map<string, Totals>();
  const stories = new Map<string, { loop: string | null; story: string } & Totals>();
  for (const { session, loop, story, totals } of cells) {
    sessions.set(session, plus(sessions.get(session) ?? NOTHING_USED, totals));
    if (loop !== null) loops.set(loop, plus(loops.get(loop) ?? NOTHING_USED, totals));
    if (story === null) continue;
    const key = JSON.stringify([loop, story]);
    stories.set(key, { loop, story, ...plus(stories.get(key) ?? NOTHING_USED, totals) });
  }
  return {
    sessions: Object.fromEntries(sessions),
    loops: Object.fromEntries(loops),
    stories: [...stories.values()],
  };
}

function placeOf({ session, loop, story }: Pick<LedgerCell, "session" | "loop" | "story">): string {
  return JSON.stringify([session, loop, story]);
}

function placesOf(cells: readonly LedgerCell[]): Map<string, number> {
  return new Map(cells.map((cell, at) => [placeOf(cell), at]));
}

function cellFor(entry: Common, cells: LedgerCell[], places: Map<string, number>): number {
  const { session, loop = null, story = null } = entry;
  const place = placeOf({ session, loop, story });
  const known = places.get(place);
  if (known !== undefined) return known;
  places.set(place, cells.length);
  return cells.push({ session, loop, story, totals: NOTHING_USED }) - 1;
}

/** Without `addedTokens`, everything that does not come from the cache counts as new. */
function amountsOf(entry: UsageEntry): Amounts {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = entry;
  const addedTokens = entry.addedTokens ?? inputTokens + outputTokens + cacheWriteTokens;
  const costUsd = entry.costUsd ?? null;
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, addedTokens, costUsd };
}

function larger(a: Amounts, b: Amounts): Amounts {
  return {
    ...combine(a, b, Math.max),
    costUsd: a.costUsd === null ? b.costUsd : Math.max(a.costUsd, b.costUsd ?? 0),
  };
}

function difference(a: Amounts, b: Amounts): Amounts {
  const costUsd = a.costUsd === null ? null : a.costUsd - (b.costUsd ?? 0);
  return { ...combine(a, b, (x, y) => x - y), costUsd };
}

function add(cells: LedgerCell[], at: number, amounts: Partial<Totals>): void {
  const cell = cells[at];
  if (cell !== undefined) cells[at] = { ...cell, totals: plus(cell.totals, { ...NOTHING_USED, ...amounts }) };
}

function plus(a: Totals, b: Totals): Totals {
  return {
    ...combine(a, b, (x, y) => x + y),
    costUsd: a.costUsd === null && b.costUsd === null ? null : (a.costUsd ?? 0) + (b.costUsd ?? 0),
    turns: a.turns + b.turns,
    toolCalls: a.toolCalls + b.toolCalls,
    failedToolCalls: a.failedToolCalls + b.failedToolCalls,
  };
}

function combine(a: Tokens, b: Tokens, of: (a: number, b: number) => number): Tokens {
  return {
    inputTokens: of(a.inputTokens, b.inputTokens),
    outputTokens: of(a.outputTokens, b.outputTokens),
    cacheReadTokens: of(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: of(a.cacheWriteTokens, b.cacheWriteTokens),
    addedTokens: of(a.addedTokens, b.addedTokens),
  };
}
