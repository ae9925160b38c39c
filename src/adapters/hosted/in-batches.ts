import type { Gate } from './gate.ts';

export interface BatchOptions {
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
    gate(async () => {
      either.throwIfAborted();
      return await work(items.slice(index * size, (index + 1) * size), either);
    }).catch((error: unknown) => {
      failure.abort(error);
      return [];
    }),
  );
  const results = await Promise.all(batches);
  either.throwIfAborted();
  return results.flat();
}
