/** Holm's step-down correction: p values that may be judged one by one although there are several. In the order given. */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((_, index) => index).sort((a, b) => (ps[a] ?? 0) - (ps[b] ?? 0));
  const adjusted = new Array<number>(ps.length).fill(1);
  let largest = 0;
  order.forEach((index, rank) => {
    largest = Math.max(largest, Math.min(1, (ps.length - rank) * (ps[index] ?? 1)));
    adjusted[index] = largest;
  });
  return adjusted;
}
