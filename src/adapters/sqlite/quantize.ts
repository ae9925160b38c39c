/** A vector in one byte a dimension: `vector[i]` is about `values[i] * scale`. */
export interface QuantizedVector {
  values: Int8Array;
  scale: number;
}

/** Dimensions rounded up to what the scan works on at a time; the rest is filled with zeros. */
export function paddedDimensions(dimensions: number): number {
  return Math.ceil(dimensions / 16) * 16;
}

export function quantize(vector: Float32Array): QuantizedVector {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const scale = largest / 127;
  const values = new Int8Array(paddedDimensions(vector.length));
  if (scale > 0) for (let i = 0; i < vector.length; i += 1) values[i] = Math.round((vector[i] ?? 0) / scale);
  return { values, scale };
}
