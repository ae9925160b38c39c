import type { Schemas } from '@qdrant/js-client-rest';
import { AppError } from '../../domain/app-error.ts';

export interface ForeignVector {
  /** Null where the collection has one vector without a name. */
  name: string | null;
  size: number;
  distance: string;
}

/** The vector of a collection that others have made: the one without a name, or the first. */
export function foreignVector(name: string, info: Schemas['CollectionInfo']): ForeignVector {
  const vectors = (info.config.params.vectors ?? {}) as Record<string, unknown>;
  if (typeof vectors.size === 'number') return vectorOf(null, vectors);
  const [first] = Object.entries(vectors);
  if (first === undefined) {
    throw new AppError('configuration_error', `Collection "${name}" has no dense vectors to search by.`, {
      hint: 'Choose another --collection.',
    });
  }
  return vectorOf(first[0], first[1]);
}

function vectorOf(name: string | null, config: unknown): ForeignVector {
  const { size, distance } = config as { size: number; distance: string };
  return { name, size, distance };
}

/** What the server scores by, as a similarity where higher is nearer. */
export function toSimilarity(score: number, { distance }: ForeignVector): number {
  return distance === 'Euclid' || distance === 'Manhattan' ? 1 / (1 + score) : score;
}

/** A point's vector at unit length, as all of ours are. */
export function unitVector(held: unknown, { name }: ForeignVector): Float32Array {
  const values = (name === null ? held : (held as Record<string, unknown> | null)?.[name]) ?? [];
  const vector = Float32Array.from(values as number[]);
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
