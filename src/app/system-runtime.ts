import { randomUUID } from 'node:crypto';
import type { Runtime } from '../ports/runtime.ts';

/** The clock of the machine and random ids. */
export const systemRuntime: Runtime = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  newId: randomUUID,
};
