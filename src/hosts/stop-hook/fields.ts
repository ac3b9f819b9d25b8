/** Reads fields of a client's JSON. The input is untrusted: a field of the wrong type counts as missing. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === "string" ? value : "";
}

export function countOf(fields: unknown, key: string): number {
  const value = isFields(fields) ? fields[key] : undefined;
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
