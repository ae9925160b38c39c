/** Integers below a bound, the same for the same seed on every machine (xorshift with 128 bits of state). */
export function createRandomIndex(seed: number): (bound: number) => number {
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  let d = (seed >>> 0) + 1;
  const next = () => {
    const mixed = a ^ (a << 11);
    a = b;
    b = c;
    c = d;
    d = d ^ (d >>> 19) ^ mixed ^ (mixed >>> 8);
    return d >>> 0;
  };
  // Seeds that differ in few bits give similar numbers at first.
  for (let round = 0; round < 32; round += 1) next();
  return (bound) => Math.floor((next() / 2 ** 32) * bound);
}

/** A copy in random order. */
export function shuffle<T>(list: readonly T[], random: (bound: number) => number): T[] {
  const result = [...list];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = random(last + 1);
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
