import { expect, test } from 'vitest';
import { joined } from '../../../src/evaluation/report/format-value.ts';
import type { MetricValue } from '../../../src/evaluation/report/metric-value.ts';
import {
  bestOf,
  CONCLUSIONS,
  type Conclusion,
  isChange,
  range,
  readable,
  signed,
} from '../../../src/web/report/numbers.ts';

const known = (value: number): MetricValue => ({ status: 'value', value, interval: null, n: 10 });
const unknown: MetricValue = { status: 'no data', reason: 'no case has it' };
const share = { better: 'higher', unit: 'share' } as const;

test('large numbers have their thousands set apart', () => {
  expect(readable(1_234_567, 'tokens')).toBe('1\u202f234\u202f567');
  expect(readable(1234, 'tokens')).toBe('1234');
});

test('a difference has its sign, and none where it rounds to nothing', () => {
  expect(signed(0.0491, 'share')).toBe('+0.049');
  expect(signed(-0.0491, 'share')).toBe('\u22120.049');
  expect(signed(-0.0001, 'share')).toBe('0.000');
  expect(signed(0.0001, 'share')).toBe('0.000');
  expect(signed(-39.4, 'ms')).toBe('\u221239 ms');
});

test('a range says its unit once, and uses a word where a minus would be misread', () => {
  expect(range([385, 471], 'ms')).toBe('385\u2013471 ms');
  expect(range([0.612, 0.753], 'share')).toBe('0.612\u20130.753');
  expect(range([-0.02, 0.03], 'share', signed)).toBe('\u22120.020 to +0.030');
  expect(range([9000, 12_000], 'ms')).toBe('9000 ms\u201312.0 s');
});

test('the best arm is the one that reads best, by the direction of the metric', () => {
  const values = [known(0.5), known(0.75), known(0.8), unknown];
  expect(bestOf(values, share)).toBe(2);
  expect(bestOf(values, { better: 'lower', unit: 'share' })).toBe(0);
});

test('nobody is best where two read alike at the top, or only one is known', () => {
  expect(bestOf([known(0.5), known(0.75), known(0.7501)], share)).toBeNull();
  expect(bestOf([known(1), known(1)], share)).toBeNull();
  expect(bestOf([known(1), unknown], share)).toBeNull();
  expect(bestOf([known(0.5), known(0.5), known(0.75)], share)).toBe(2);
});

test('a change counts as better or worse only when it is proven', () => {
  expect((Object.keys(CONCLUSIONS) as Conclusion[]).filter(isChange)).toEqual(['better', 'worse']);
});

test('names are joined as in a sentence', () => {
  expect(joined(['a'])).toBe('a');
  expect(joined(['a', 'b', 'c'])).toBe('a, b and c');
});
