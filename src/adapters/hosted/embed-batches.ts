import type { Gate } from '../../async/gate.ts';
import { type Service, unusableAnswer } from './json-service.ts';

interface BatchOptions {
  size: number;
  gate: Gate;
  signal?: AbortSignal | undefined;
}

/**
 * Works on all items in batches, as many at a time as the gate lets through; results keep the order of the items.
 * The first batch that fails for good stops the others, and its fault is thrown once they have stopped.
 */
export async function inBatches<T, R>(
  items: readonly T[],
  { size, gate, signal }: BatchOptions,
  work: (batch: readonly T[], signal: AbortSignal) => Promise<R[]>,
): Promise<R[]> {
  const failure = new AbortController();
  const either = AbortSignal.any([failure.signal, ...(signal === undefined ? [] : [signal])]);
  const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    gate
      .run(async () => {
        either.throwIfAborted();
        return await work(items.slice(index * size, (index + 1) * size), either);
      })
      .catch((error: unknown) => {
        failure.abort(error);
        return [];
      }),
  );
  const results = await Promise.all(batches);
  either.throwIfAborted();
  return results.flat();
}

/** The vectors of an answer, checked and brought to unit length. */
export function toUnitVectors(
  rows: unknown,
  { count, dimensions }: { count: number; dimensions: number },
  service: Service,
): Float32Array[] {
  if (!Array.isArray(rows)) throw unusableAnswer(service, 'it holds no embeddings');
  if (rows.length !== count) {
    throw unusableAnswer(service, `it holds ${rows.length} embeddings for ${count} texts`);
  }
  return rows.map((row: unknown) => {
    if (!Array.isArray(row)) throw unusableAnswer(service, 'an embedding is not a list of numbers');
    if (row.length !== dimensions) {
      const fault = `${service.model} gave vectors of ${row.length} dimensions where ${dimensions} were expected`;
      throw unusableAnswer(service, fault, false);
    }
    return toUnitVector(row, service);
  });
}

function toUnitVector(row: readonly unknown[], service: Service): Float32Array {
  let squares = 0;
  for (const value of row) squares += typeof value === 'number' ? value * value : Number.NaN;
  const length = Math.sqrt(squares);
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) {
    throw unusableAnswer(service, 'an embedding has no direction, or holds what is not a number');
  }
  return Float32Array.from(row as readonly number[], (value) => value / length);
}
