/** A bounded cache of pure answers: keeps the newest entries only. */
export function remember<Value>(cache: Map<string, Value>, key: string, value: Value, limit: number): Value {
  const [oldest] = cache.keys();
  if (oldest !== undefined && cache.size >= limit) cache.delete(oldest);
  cache.set(key, value);
  return value;
}
