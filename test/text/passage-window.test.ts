import fc from 'fast-check';
import { expect, test } from 'vitest';
import { selectPassageWindow } from '../../src/text/passage-window.ts';

const TEXT = [
  'Robots have links and joints.',
  'A costmap stores the cost of every cell.',
  'The inflation layer spreads cost around obstacles.',
  'Nothing else is said here.',
].join(' ');

test('returns a short passage whole, and the relevant part of a long one', () => {
  expect(selectPassageWindow(TEXT, 'inflation', 500)).toBe(TEXT);
  expect(selectPassageWindow(TEXT, 'What does the inflation layer do?', 60)).toBe(
    'The inflation layer spreads cost around obstacles.',
  );
  expect(selectPassageWindow(TEXT, 'quantum computing', 30)).toBe('Robots have links and joints.');
});

test('does not start inside code', () => {
  const text = `It is started like this.\n\n\`\`\`bash\n${'echo filler\n'.repeat(10)}gz sim world.sdf\n\`\`\`\n\nThe end of it is near.`;
  expect(selectPassageWindow(text, 'gz sim world', 80)).toMatch(/^(?:It is started|```bash)/);
});

test('keeps code and rows whole, with the table header', () => {
  const code = '```bash\ngz sim world.sdf\n```';
  expect(selectPassageWindow(`${TEXT}\n\nStart it:\n\n${code}\n\n${TEXT}`, 'start gz sim', 60)).toBe(
    `Start it:\n\n${code}`,
  );
  const head = '| Bus | Rate |\n| --- | --- |';
  const rows = ['EtherCAT', 'Classic', 'Serial'].map((bus) => `| ${bus} | 1 Mbit/s |`);
  const table = `${head}\n${rows.join('\n')}`;
  expect(selectPassageWindow(`${TEXT}\n\n${table}`, 'serial bus', 60)).toBe(`${head}\n${rows[2]}`);
});

test('does not end before the code, list or table that the text introduces', () => {
  const code = '```console\n$ fastapi run --workers 4\n```';
  const lead = 'If you use the command:';
  const text = `Workers use all cores of a machine.\n\n${lead}\n\n${code}\n\n${TEXT}`;
  expect(selectPassageWindow(text, 'workers cores', 70)).toBe('Workers use all cores of a machine.');
  expect(selectPassageWindow(text, 'which command', 90)).toBe(`${lead}\n\n${code}`);
  const list = `${TEXT}\n\nRemedies are:\n\n- Wait for it.\n- Restart it.\n\n${TEXT}`;
  expect(selectPassageWindow(list, 'remedies', 30)).toBe('Remedies are:\n\n- Wait for it.');
  expect(selectPassageWindow(list, 'restart', 12)).toBe('- Restart it.');
  const table = `${TEXT}\n\nRates:\n\n| Bus | Rate |\n| --- | --- |\n| CAN | 1 |\n| USB | 5 |`;
  expect(selectPassageWindow(table, 'rates', 50)).toMatch(
    /^Rates:\n\n\| Bus \| Rate \|\n.*\n\| CAN \| 1 \|$/,
  );
});

test('cuts long code after a line', () => {
  const text = `Run this:\n\n\`\`\`sh\n${'echo something longer\n'.repeat(40)}\`\`\``;
  const shown = selectPassageWindow(text, 'run', 100);
  expect(shown).toMatch(/^Run this:\n\n```sh\n(?:echo something longer\n)+echo something longer$/);
  expect(shown.length).toBeLessThanOrEqual(100);
});

test('returns one piece of the passage within the limit', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 300 }),
      fc.string({ maxLength: 40 }),
      fc.integer({ min: 1, max: 200 }),
      (text, query, max) => {
        const shown = selectPassageWindow(text, query, max);
        expect(text).toContain(shown);
        expect(shown.length).toBeLessThanOrEqual(1.5 * max);
      },
    ),
  );
});
