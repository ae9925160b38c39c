import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const styles = globSync('src/web/**/*.css')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const colors = new Map(
  Array.from(
    styles.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g),
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
);

/** Every text color with every background it is used on. */
const PAIRS = [
  ['text', 'ground'],
  ['text', 'raised'],
  ['text', 'mark'],
  ['text', 'fair-ground'],
  ['text', 'poor-ground'],
  ['quiet', 'ground'],
  ['quiet', 'raised'],
  ['accent', 'ground'],
  ['accent', 'raised'],
  ['accent', 'poor-ground'],
  ['on-accent', 'accent'],
  ['good', 'ground'],
  ['good', 'good-ground'],
  ['fair', 'fair-ground'],
  ['poor', 'ground'],
  ['poor', 'raised'],
  ['poor', 'poor-ground'],
] as const;

test.each(PAIRS)('%s on %s has enough contrast, light and dark', (text, ground) => {
  for (const scheme of ['light', 'dark'] as const) {
    expect(contrast(getColor(text)[scheme], getColor(ground)[scheme])).toBeGreaterThanOrEqual(4.5);
  }
});

test('every text color is in these pairs', () => {
  const used = new Set(
    Array.from(styles.matchAll(/(?<![-\w])color: var\(--([\w-]+)\)/g), ([, name]) => name),
  );
  const paired = new Set<string>(PAIRS.map(([text]) => text));
  expect([...used].filter((name) => !paired.has(name ?? ''))).toEqual([]);
});

function getColor(name: string) {
  const found = colors.get(name);
  if (found === undefined) throw new Error(`no stylesheet defines --${name}`);
  return found;
}

/** The contrast ratio of WCAG 2. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
