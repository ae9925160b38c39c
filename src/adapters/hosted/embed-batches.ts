import type { Gate } from '../../async/gate.ts';
import { type HostedService, unusableAnswer } from './json-service.ts';

interface BatchOptions {
  size: number;
  gate: Gate;
  signal?: AbortSignal | undefined;
}

/**
 * Processes items in batches, with the concurrency of the gate; the results are in the order of the items. The first
 * batch that fails stops the others, and its error is thrown when they have stopped.
 */
export async function processInBatches<T, R>(
  items: readonly T[],
  { size, gate, signal }: BatchOptions,
  work: (batch: readonly T[], signal: AbortSignal) => Promise<R[]>,
): Promise<R[]> {
  const failure = new AbortController();
  const stopSignal = AbortSignal.any([failure.signal, ...(signal === undefined ? [] : [signal])]);
  const batches = Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    gate
      .run(async () => {
        stopSignal.throwIfAborted();
        return await work(items.slice(index * size, (index + 1) * size), stopSignal);
      })
      .catch((error: unknown) => {
        failure.abort(error);
        return [];
      }),
  );
  const results = await Promise.all(batches);
  stopSignal.throwIfAborted();
  return results.flat();
}

/** Checks the vectors of a response and normalizes them. */
export function toUnitVectors(
  rows: unknown,
  { count, dimensions }: { count: number; dimensions: number },
  service: HostedService,
): Float32Array[] {
  if (!Array.isArray(rows)) throw unusableAnswer(service, 'it has no embeddings');
  if (rows.length !== count) {
    throw unusableAnswer(service, `it has ${rows.length} embeddings for ${count} texts`);
  }
  return rows.map((row: unknown) => {
    if (!Array.isArray(row)) throw unusableAnswer(service, 'an embedding is not a list of numbers');
    if (row.length !== dimensions) {
      const reason = `the vectors of ${service.model} have ${row.length} dimensions instead of ${dimensions}`;
      throw unusableAnswer(service, reason, false);
    }
    return toUnitVector(row, service);
  });
}

function toUnitVector(row: readonly unknown[], service: HostedService): Float32Array {
  let squares = 0;
  for (const value of row) squares += typeof value === 'number' ? value * value : Number.NaN;
  const length = Math.sqrt(squares);
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) {
    throw unusableAnswer(service, 'an embedding is zero or not numeric');
  }
  return Float32Array.from(row as readonly number[], (value) => value / length);
}
