/** Makes something of a chunk once for each object, which must not change afterwards. */
export function oncePerChunk<Chunk extends object, T>(make: (chunk: Chunk) => T): (chunk: Chunk) => T {
  const made = new WeakMap<Chunk, T>();
  return (chunk) => {
    const known = made.get(chunk);
    if (known !== undefined) return known;
    const value = make(chunk);
    made.set(chunk, value);
    return value;
  };
}
