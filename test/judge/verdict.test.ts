import { expect, test } from 'vitest';
import { BARS, type HardFact, objectionsOf, supportVerdict } from '../../src/judge/verdict.ts';

const bars = { supported: 0.6, weak: 0.3 };
const verdict = (chance: number, objections: HardFact[] = [], whole = false) =>
  supportVerdict(chance, { whole }, objections, bars);

test('a sentence that stands there as a whole is quoted, whatever its chance', () => {
  expect(verdict(0, ['number'], true)).toBe('quoted');
});

test('a chance that reaches a bar is above it', () => {
  expect([0.6, 0.599, 0.3, 0.299].map((chance) => verdict(chance))).toEqual([
    'supported',
    'weak',
    'weak',
    'unsupported',
  ]);
  expect(supportVerdict(BARS.supported, { whole: false }, [])).toBe('supported');
  expect(BARS.supported).toBeGreaterThan(BARS.weak);
});

test('a fact that is not there is never outvoted', () => {
  expect(verdict(0.99, ['number'])).toBe('weak');
  expect(verdict(0.1, ['number'])).toBe('unsupported');
});

const HELD = {
  whole: false,
  share: 1,
  missing: { quotes: [], identifiers: [], numbers: [], names: [] },
  numbersFar: 0,
  numbersOfAnother: 0,
  contradicts: false,
  rolesSwapped: false,
};

test.each([
  ['quote', { missing: { ...HELD.missing, quotes: ['x'] } }],
  ['identifier', { missing: { ...HELD.missing, identifiers: ['x'] } }],
  ['number', { missing: { ...HELD.missing, numbers: ['1'] } }],
  ['name', { missing: { ...HELD.missing, names: ['X'] } }],
  ['negation', { contradicts: true }],
  ['roles', { rolesSwapped: true }],
])('what speaks against a sentence is told: %s', (objection, facts) => {
  expect(objectionsOf({ ...HELD, ...facts })).toEqual([objection]);
});

test('where all facts are held nothing speaks against a sentence', () => {
  expect(objectionsOf(HELD)).toEqual([]);
});
