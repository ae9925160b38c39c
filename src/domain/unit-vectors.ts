/** The cosine of two vectors of unit length. */
export function dotProduct(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** Scales the vector itself to unit length and returns it. A zero vector stays as it is. */
export function normalizeVector(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dotProduct(vector, vector)) || 1;
  for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] as number) / length;
  return vector;
}
