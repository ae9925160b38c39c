import { randomUUID } from 'node:crypto';
import type { Runtime } from '../ports/runtime.ts';

/** The clock and the ids of the machine. */
export const systemRuntime: Runtime = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  newId: randomUUID,
};
