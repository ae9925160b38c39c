/**
 * Tango's score interval for the difference of two shares on the same cases, of which `onlyArm` and `onlyBaseline`
 * pass in one arm alone. Unlike the bootstrap it knows that cases which all agree exclude little if they are few.
 */
export function pairedShareInterval(
  onlyArm: number,
  onlyBaseline: number,
  n: number,
  z: number,
): [number, number] {
  const difference = (onlyArm - onlyBaseline) / n;
  const isWithin = (assumed: number) => Math.abs(scoreOf(onlyArm, onlyBaseline, n, assumed)) <= z;
  return [
    boundary(difference, -1, (assumed) => isWithin(assumed)),
    boundary(difference, 1, (assumed) => isWithin(assumed)),
  ];
}

/** How many standard errors the counts are from an assumed difference, with the likeliest shares that have it. */
export function scoreOf(onlyArm: number, onlyBaseline: number, n: number, assumed: number): number {
  const a = 2 * n;
  const b = -onlyArm - onlyBaseline + (2 * n - onlyArm + onlyBaseline) * assumed;
  const c = -onlyBaseline * assumed * (1 - assumed);
  const share = (Math.sqrt(Math.max(0, b * b - 4 * a * c)) - b) / (2 * a);
  const variance = n * (2 * share + assumed * (1 - assumed));
  const distance = onlyArm - onlyBaseline - n * assumed;
  if (Math.abs(distance) < 1e-12) return 0;
  return variance <= 0 ? Math.sign(distance) * Number.POSITIVE_INFINITY : distance / Math.sqrt(variance);
}

const HALVINGS = 40;

/** The last value towards `end` that is within, found by halving: the score falls steadily on either side. */
function boundary(start: number, end: -1 | 1, isWithin: (assumed: number) => boolean): number {
  let [inside, outside] = [start, end as number];
  if (isWithin(outside)) return outside;
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (inside + outside) / 2;
    if (isWithin(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}
