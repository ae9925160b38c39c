import { createHash } from 'node:crypto';
import type { Runtime } from '../ports/runtime.ts';

/**
 * A runtime that is the same in every replay of a tape: its ids are made from the seed, one after the other, and its
 * clock stands still at the moment of the recording. Time that passes during a replay says nothing about the run.
 */
export function createReplayRuntime(
  seed: string,
  at: string,
  { needsKeys = false }: { needsKeys?: boolean } = {},
): Runtime {
  const time = new Date(at).getTime();
  return {
    now: () => new Date(time),
    elapsedMs: () => 0,
    newId: seededIds(seed),
    needsKeys,
    random: () => 0.5,
    // What is waited for has happened already.
    sleep: async (_ms, signal) => signal?.throwIfAborted(),
  };
}

/** The clock of the machine with ids from a seed, so that a recording and its replays have the same ones. */
export function createRecordingRuntime(seed: string, clock: Runtime): Runtime {
  return { ...clock, newId: seededIds(seed) };
}

/** UUIDs of version 4 in all but their randomness. */
export function seededIds(seed: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    const bytes = createHash('sha256').update(`${seed} ${count}`).digest().subarray(0, 16);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  };
}
