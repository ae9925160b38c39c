/** Returns the loss at a point and writes the gradient to `slope`. */
export type Evaluate = (at: Float64Array, slope: Float64Array) => number;

const MEMORY = 10;
const ENOUGH = 1e-7;

/** L-BFGS with a backtracking line search. Deterministic. */
export function minimize(evaluate: Evaluate, start: Float64Array, mostSteps: number): Float64Array {
  let at = start.slice();
  let slope = new Float64Array(at.length);
  let loss = evaluate(at, slope);
  const steps: Float64Array[] = [];
  const changes: Float64Array[] = [];
  for (let count = 0; count < mostSteps; count += 1) {
    const direction = towardsMinimum(slope, steps, changes);
    const descent = dot(direction, slope);
    if (descent > -ENOUGH * ENOUGH) break;
    let size = count === 0 ? Math.min(1, 1 / Math.sqrt(dot(slope, slope))) : 1;
    const nextSlope = new Float64Array(at.length);
    let next = at;
    let nextLoss = loss;
    for (let tries = 0; tries < 30; tries += 1, size /= 2) {
      const from = at;
      const by = size;
      next = from.map((value, index) => value + by * (direction[index] ?? 0));
      nextLoss = evaluate(next, nextSlope);
      if (nextLoss <= loss + 1e-4 * size * descent) break;
    }
    if (!(nextLoss < loss)) break;
    const step = difference(next, at);
    const change = difference(nextSlope, slope);
    if (dot(step, change) > 1e-12) {
      steps.push(step);
      changes.push(change);
      if (steps.length > MEMORY) {
        steps.shift();
        changes.shift();
      }
    }
    const gained = loss - nextLoss;
    at = next;
    slope = nextSlope;
    loss = nextLoss;
    if (gained < ENOUGH) break;
  }
  return at;
}

function towardsMinimum(
  slope: Float64Array,
  steps: readonly Float64Array[],
  changes: readonly Float64Array[],
): Float64Array {
  const direction = slope.map((value) => -value);
  const shares = new Array<number>(steps.length).fill(0);
  for (let i = steps.length - 1; i >= 0; i -= 1) {
    const step = steps[i] as Float64Array;
    const change = changes[i] as Float64Array;
    shares[i] = dot(step, direction) / dot(step, change);
    add(direction, change, -(shares[i] ?? 0));
  }
  const lastStep = steps.at(-1);
  const lastChange = changes.at(-1);
  if (lastStep !== undefined && lastChange !== undefined) {
    const scale = dot(lastStep, lastChange) / dot(lastChange, lastChange);
    direction.forEach((value, index) => {
      direction[index] = value * scale;
    });
  }
  steps.forEach((step, i) => {
    const change = changes[i] as Float64Array;
    add(direction, step, (shares[i] ?? 0) - dot(change, direction) / dot(step, change));
  });
  return direction;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function difference(a: Float64Array, b: Float64Array): Float64Array<ArrayBuffer> {
  return Float64Array.from(a, (value, index) => value - (b[index] ?? 0));
}

function add(target: Float64Array, other: Float64Array, share: number): void {
  for (let i = 0; i < target.length; i += 1) target[i] = (target[i] ?? 0) + share * (other[i] ?? 0);
}
