import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

const notebook = (cells: object[], more: object = {}) => JSON.stringify({ cells, nbformat: 4, ...more });

test('parses text, code and output of a notebook with cell numbers', async () => {
  const document = await parseSource(
    'notebook',
    notebook(
      [
        { cell_type: 'markdown', source: ['# Tides\n', '\n', 'The *moon* pulls.'] },
        {
          cell_type: 'code',
          source: 'print(1)\n2',
          outputs: [
            { output_type: 'stream', text: ['1\n'] },
            { output_type: 'execute_result', data: { 'text/plain': '2', 'image/png': 'iVBORw0' } },
            { output_type: 'error', ename: 'ValueError', evalue: 'no' },
          ],
        },
        { cell_type: 'raw', source: 'As it is.' },
      ],
      { metadata: { language_info: { name: 'julia' } } },
    ),
  );
  expect(document.title).toBe('Tides');
  expect(blocksOf(document)).toEqual([
    ['heading', 1, 'Tides'],
    ['paragraph', 0, 'The moon pulls.'],
    ['code', 0, '```julia\nprint(1)\n2\n```'],
    ['paragraph', 0, 'Output:'],
    ['code', 0, '```\n1\n2\nValueError: no\n```'],
    ['paragraph', 0, 'As it is.'],
  ]);
  expect(document.blocks.map(({ location }) => location?.from)).toEqual([1, 1, 2, 2, 2, 3]);
  expect(document.blocks[0]?.location?.unit).toBe('cell');
});

test('cuts long output between lines', async () => {
  const cells = [{ cell_type: 'code', source: 'f()', outputs: [{ text: 'a line\n'.repeat(2_000) }] }];
  const { text } = await parseSource('notebook', JSON.stringify({ cells }));
  expect(text).toMatch(/^```python\nf\(\)\n```\n\nOutput:\n\n```\na line\n/);
  expect(text).toMatch(/a line\n…\n```$/);
  expect(text.length).toBeLessThan(4_200);
});

test.each([
  ['no JSON', '{"cells": ['],
  ['other JSON', '{"cells": [1]}'],
])('rejects a notebook that is %s', async (_, source) => {
  await expect(parseSource('notebook', source)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: expect.stringMatching(/cannot be read as a notebook: [^\n]+$/),
  });
});
