/** From a value to its place. */
export type Scale = (value: number) => number;

export function linear(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): Scale {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

/** About `count` round numbers that lie within the domain. */
export function roundTicks([from, to]: readonly [number, number], count: number): number[] {
  const raw = (to - from) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [from];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  // Multiplied and rounded rather than summed: 0.1 three times is not 0.3.
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** A domain that holds all values, with some air around them. */
export function domainOf(values: readonly number[], air = 0.08): [number, number] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [0, 1];
  // One by one: a spread of very many arguments overflows the stack.
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  const span = high - low || Math.abs(high) || 1;
  return [low - span * air, high + span * air];
}

/** A coordinate as short as it can be. */
export function place(value: number): string {
  return String(Math.round(value * 10) / 10);
}
