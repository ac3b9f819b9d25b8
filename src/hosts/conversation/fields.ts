/** Reads fields of a client's JSON. The input is untrusted: a field of the wrong type counts as missing. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** null: the text is missing or not a JSON object. */
export function parseFields(text: string | null): Fields | null {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

export function fieldOf(fields: unknown, key: string): unknown {
  return isFields(fields) ? fields[key] : undefined;
}

export function textOf(fields: unknown, key: string): string {
  const value = fieldOf(fields, key);
  return typeof value === "string" ? value : "";
}

export function countOf(fields: unknown, key: string): number {
  const value = fieldOf(fields, key);
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
