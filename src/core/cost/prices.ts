/** The cost of tokens from a price table, for agents that report tokens but no cost. */
import type { Usage } from "../base.ts";

/** In US dollars per million tokens. A missing cache price equals the input price. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface PriceTable {
  /** The day of these prices. */
  readonly date: string;
  /** By model name; `*` matches anything. */
  readonly models: Readonly<Record<string, Price>>;
}

/**
 * The person's own table comes first. A project's table adds models, and can only raise the price of a known model:
 * otherwise a repository, or an agent that writes into it, could bypass a budget.
 */
export interface Prices {
  readonly own: PriceTable | null;
  readonly project: PriceTable | null;
  readonly shipped: PriceTable;
}

export interface PriceSource {
  readonly table: keyof Prices;
  readonly date: string;
  /** The model's name in the table. */
  readonly name: string;
  readonly price: Price;
}

/** null: the cost of the turn is unknown. */
export function priceOf(
  usage: Usage,
  model: string,
  prices: Prices,
): { readonly costUsd: number; readonly from: PriceSource } | null {
  const { inputTokens, outputTokens } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null;
  const priced = findPrices(model, prices).map((from) => ({ costUsd: costOf(usage, from.price), from }));
  const [own] = priced.filter(({ from }) => from.table === "own");
  if (own !== undefined) return own;
  return priced.toSorted((a, b) => b.costUsd - a.costUsd)[0] ?? null;
}

/** The prices of a model in each table, the person's own table first. */
export function findPrices(model: string, prices: Prices): readonly PriceSource[] {
  return (["own", "shipped", "project"] as const).flatMap((table) => {
    const found = prices[table] === null ? null : findPrice(model, prices[table]);
    return found === null ? [] : [{ table, date: prices[table]?.date ?? "", ...found }];
  });
}

function findPrice(model: string, { models }: PriceTable): Pick<PriceSource, "name" | "price"> | null {
  const names = namesOf(model);
  const entries = Object.entries(models).map(([name, price]) => ({ name, price, key: name.toLowerCase() }));
  for (const name of names) {
    const exact = entries.find(({ key }) => key === name);
    if (exact !== undefined) return { name: exact.name, price: exact.price };
  }
  const patterns = entries.filter(({ key }) => key.includes("*")).sort((a, b) => b.key.length - a.key.length);
  const found = patterns.find(({ key }) => names.some((name) => matches(key, name)));
  return found === undefined ? null : { name: found.name, price: found.price };
}

const CLOUD_PREFIX = /^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|openai|mistral|qwen|deepseek|google)\./;
const SUFFIXES = [
  /\[[^\]]*\]$/,
  /(?:-v\d+)?:\d+$/,
  /[@-](?:\d{8}|\d{4}-\d{2}-\d{2})$/,
  /-preview(?:-\d{2}-\d{2,4})?$/,
  /-(?:latest|stable)$/,
];

/** All names that a table may use for the model, the most exact first. */
function namesOf(model: string): readonly string[] {
  const whole = model.trim().toLowerCase();
  const parts = whole.split("/");
  // `openai/gpt-5`, `openrouter/openai/gpt-5`, and `gpt-5/high` where the agent adds the effort
  const spelled = [
    ...parts.map((_, index) => parts.slice(index).join("/")),
    ...parts.slice(0, -1).map((_, index) => parts.slice(index, -1).join("/")),
  ];
  const names = spelled.flatMap((name) => [name, name.replace(CLOUD_PREFIX, "")]).flatMap(withoutSuffixes);
  // `claude-opus-4.8` for `claude-opus-4-8`
  const dashed = names.map((name) => name.replace(/(\d)\.(?=\d)/g, "$1-"));
  return [...new Set([...names, ...dashed])].filter((name) => name !== "");
}

/** Dates, releases and versions do not change the price. */
function withoutSuffixes(name: string): readonly string[] {
  const names = [name];
  for (let last = name; ; ) {
    const shorter = SUFFIXES.map((suffix) => last.replace(suffix, "")).find((each) => each !== last);
    if (shorter === undefined) return names;
    names.push(shorter);
    last = shorter;
  }
}

function matches(pattern: string, name: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop() ?? "";
  if (!name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length) return false;
  let at = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > name.length - tail.length) return false;
    at = found + part.length;
  }
  return true;
}

/** Cache tokens are part of the input. */
function costOf(usage: Usage, { input, output, cacheRead = input, cacheWrite = input }: Price): number {
  const total = usage.inputTokens ?? 0;
  const read = Math.min(total, countOf(usage.cacheReadTokens));
  const written = Math.min(total - read, countOf(usage.cacheWriteTokens));
  const micros =
    (total - read - written) * input +
    read * cacheRead +
    written * cacheWrite +
    (usage.outputTokens ?? 0) * output;
  return micros / 1_000_000;
}

function countOf(tokens: number | undefined): number {
  return isCount(tokens) ? tokens : 0;
}

function isCount(tokens: number | null | undefined): tokens is number {
  return tokens != null && Number.isFinite(tokens) && tokens >= 0;
}
