import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeEach, expect } from 'vitest';

// Runs in each worker before the tests of a file. Activates one mutant or, without one, records which mutants each test
// reaches.

declare global {
  var mutant: (id: number) => boolean;
}

/** Evaluations after which a mutant is considered an endless loop. */
const MAX_EVALUATIONS = 20_000_000;
const { MUTATE_STATE = '' } = process.env;
const active = Number(readFileSync(`${MUTATE_STATE}.active`, 'utf8'));
/** Mutant ids by test id; those reached while loading have the empty test id. */
const reached = new Map<string, Set<number>>([['', new Set()]]);
let current = reached.get('');
let evaluations = 0;

writeFileSync(`${MUTATE_STATE}.pid`, String(process.pid));
globalThis.mutant = (id) => {
  if (active < 0) current?.add(id);
  if (id !== active) return false;
  evaluations += 1;
  if (evaluations > MAX_EVALUATIONS) throw new Error('endless loop');
  return true;
};

beforeEach(({ task }) => {
  current = reached.get(task.id) ?? new Set();
  reached.set(task.id, current);
});

afterAll(() => {
  if (active >= 0) return;
  const tests = [...reached].map(([test, ids]) => ({ test, ids: [...ids] }));
  appendFileSync(
    `${MUTATE_STATE}.reached`,
    `${JSON.stringify({ file: expect.getState().testPath, tests })}\n`,
  );
});
