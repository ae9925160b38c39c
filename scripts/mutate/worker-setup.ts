import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeEach, expect } from 'vitest';

// Run by each worker before the tests of a file. Says which mutant is awake and, where none is, writes down which
// mutants each test came by.

declare global {
  var mutant: (id: number) => boolean;
}

/** A mutant that makes a loop endless is asked for in every round of it. */
const ENDLESS = 20_000_000;
const { MUTATE_STATE = '' } = process.env;
const awake = Number(readFileSync(`${MUTATE_STATE}.awake`, 'utf8'));
/** Mutants by the id of the test; those met while files are loaded are under the empty id. */
const met = new Map<string, Set<number>>([['', new Set()]]);
let current = met.get('');
let rounds = 0;

writeFileSync(`${MUTATE_STATE}.pid`, String(process.pid));
globalThis.mutant = (id) => {
  if (awake < 0) current?.add(id);
  if (id !== awake) return false;
  rounds += 1;
  if (rounds > ENDLESS) throw new Error('a loop without an end');
  return true;
};

beforeEach(({ task }) => {
  current = met.get(task.id) ?? new Set();
  met.set(task.id, current);
});

afterAll(() => {
  if (awake >= 0) return;
  const tests = [...met].map(([test, ids]) => ({ test, ids: [...ids] }));
  appendFileSync(`${MUTATE_STATE}.met`, `${JSON.stringify({ file: expect.getState().testPath, tests })}\n`);
});
