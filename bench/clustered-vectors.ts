/** Vectors of unit length around a number of centres, as real embeddings of documents lie. */
export interface ClusteredVectors {
  /** One near the given centre. */
  near(centre: number, spread?: number): Float32Array;
}

export function createClusteredVectors(
  centres: number,
  dimensions: number,
  random: () => number,
): ClusteredVectors {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const directions = Array.from({ length: centres }, () =>
    unit(Float32Array.from({ length: dimensions }, normal)),
  );
  return {
    near(centre, spread = 0.8) {
      const noise = spread / Math.sqrt(dimensions);
      const direction = directions[centre % centres] as Float32Array;
      return unit(direction.map((value) => value + noise * normal()));
    },
  };
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  return vector.map((value) => value / length);
}
