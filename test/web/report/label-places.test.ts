import { expect, test } from 'vitest';
import { placeLabels } from '../../../src/web/report/label-places.ts';

const frame = { left: 40, right: 340, top: 20, bottom: 280 };

test('arms on the same spot share one label', () => {
  const labels = placeLabels(
    [
      { name: 'tool', x: 100, y: 100 },
      { name: 'first', x: 102, y: 101 },
    ],
    [],
    frame,
  );
  expect(labels.map(({ text }) => text)).toEqual(['tool, first']);
});

test('a label at the right edge goes to the left of its mark', () => {
  const [label] = placeLabels([{ name: 'always', x: 330, y: 100 }], [], frame);
  expect(label?.x).toBeLessThan(330 - 40);
});

test('labels of neighbours do not cover one another', () => {
  const [first, second] = placeLabels(
    [
      { name: 'tool', x: 200, y: 100 },
      { name: 'always', x: 212, y: 100 },
    ],
    [],
    frame,
  );
  const isApart =
    Math.abs((first?.y ?? 0) - (second?.y ?? 0)) >= 13 || (first?.x ?? 0) + 4 * 7 < (second?.x ?? 0);
  expect(isApart).toBe(true);
});

test('a long name is cut', () => {
  const [label] = placeLabels([{ name: 'x'.repeat(200), x: 100, y: 100 }], [], frame);
  expect(label?.text).toMatch(/^x{23}…$/);
});
