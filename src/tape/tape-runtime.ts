import { createHash } from 'node:crypto';
import type { Runtime } from '../ports/runtime.ts';

/** A runtime with ids from the seed and a clock that stands still, so that every replay of a tape gives the same output. */
export function createReplayRuntime(seed: string, at: string, needsKeys = false): Runtime {
  const time = new Date(at).getTime();
  return {
    now: () => new Date(time),
    elapsedMs: () => 0,
    newId: createSeededIdGenerator(seed),
    needsKeys,
    random: () => 0.5,
    sleep: async (_ms, signal) => signal?.throwIfAborted(),
  };
}

/** The given clock with ids from a seed, so that a replay can generate the same ids. */
export function createRecordingRuntime(seed: string, clock: Runtime): Runtime {
  return { ...clock, newId: createSeededIdGenerator(seed) };
}

/** Returns a generator of UUIDs in the format of version 4. */
export function createSeededIdGenerator(seed: string): () => string {
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
