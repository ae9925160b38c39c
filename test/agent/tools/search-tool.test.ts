import fc from 'fast-check';
import { expect, test } from 'vitest';
import { passageWindow } from '../../../src/agent/tools/search-tool.ts';

const TEXT = [
  'Robots have links and joints.',
  'A costmap stores the cost of every cell.',
  'The inflation layer spreads cost around obstacles.',
  'Nothing else is said here.',
].join(' ');

test('a short passage is shown whole, a long one where the query is', () => {
  expect(passageWindow(TEXT, 'inflation', 500)).toBe(TEXT);
  expect(passageWindow(TEXT, 'What does the inflation layer do?', 60)).toBe(
    'The inflation layer spreads cost around obstacles. Nothing e',
  );
  expect(passageWindow(TEXT, 'quantum computing', 30)).toBe('Robots have links and joints.');
});

test('code is not entered in the middle', () => {
  const text = `It is started like this.\n\n\`\`\`bash\n${'echo filler\n'.repeat(10)}gz sim world.sdf\n\`\`\`\n\nThe end of it is near.`;
  expect(passageWindow(text, 'gz sim world', 80)).toMatch(/^(?:It is started|```bash)/);
});

test('it is always a part of the passage, in one piece and within bounds', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 300 }),
      fc.string({ maxLength: 40 }),
      fc.integer({ min: 1, max: 200 }),
      (text, query, max) => {
        const shown = passageWindow(text, query, max);
        expect(text).toContain(shown);
        expect(shown.length).toBeLessThanOrEqual(Math.max(max, text.length <= max ? text.length : max));
      },
    ),
  );
});
