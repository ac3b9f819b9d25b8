/** A bounded cache of pure answers: keeps the newest entries only. */
export function remember<Value>(cache: Map<string, Value>, key: string, value: Value, limit: number): Value {
  if (cache.size >= limit) {
    const oldest = cache.keys().next();
    if (oldest.done !== true) cache.delete(oldest.value);
  }
  cache.set(key, value);
  return value;
}
