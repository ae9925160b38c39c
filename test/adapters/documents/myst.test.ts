import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

const textOf = async (source: string) => (await parseSource('markdown', source)).text;

test('roles become their text', async () => {
  const source =
    'Use {func}`echo`, {py:meth}`~pkg.Shell.run`, {ref}`the options <options>` and {code}`x <y>`.';
  expect(await textOf(source)).toBe('Use echo, run, the options and x <y>.');
});

test('drops targets, comments and block breaks, but not in code and not in other Markdown', async () => {
  const code = '```\n(a)=\n% b\n```';
  expect(await textOf(`(options)=\n# Options\n\n% a comment\n\n+++\n\n${code}`)).toBe(`Options\n\n${code}`);
  expect(await textOf('Type\n\n% ls\n')).toBe('Type\n\n% ls');
});

test('directives keep their title and content, and lose their options', async () => {
  const source = [
    '```{note}\n:class: dropdown\n\nOne.\n```',
    ':::{admonition} My *title*\n:class: tip\nTwo, see {doc}`guide`.\n:::',
    '```{contents}\n:depth: 2\n```',
    '```{code-block} python\n---\ncaption: app.py\n---\nx = 1\n```',
    '::::{tab-set}\n:::{tab-item} Linux\n\n- three\n:::\n::::',
    '```{versionadded} 8.2\n```',
    '```{eval-rst}\n.. tip:: four\n```',
  ].join('\n\n');
  expect(await textOf(source)).toBe(
    [
      'Note: One.',
      'My title: Two, see guide.',
      'app.py\n\n```python\nx = 1\n```',
      'Linux\n\n- three',
      'Added in version 8.2',
      'Tip: four',
    ].join('\n\n'),
  );
});

test('the content of a directive has the lines of the directive', async () => {
  const { blocks } = await parseSource('markdown', 'a\n\n:::{note}\nb\n\nc\n:::\n\nd');
  expect(blocks.map(({ location }) => [location?.from, location?.to])).toEqual([
    [1, 1],
    [3, 7],
    [3, 7],
    [9, 9],
  ]);
});

test('a code cell of Quarto stays code', async () => {
  expect(blocksOf(await parseSource('markdown', '```{python}\n# a\n```'))).toEqual([
    ['code', 0, '```python\n# a\n```'],
  ]);
});

test('deeply nested directives are parsed quickly', async () => {
  const open = Array.from({ length: 200 }, (_, index) => `${'`'.repeat(203 - index)}{note}`);
  const close = open.map((line) => line.replace('{note}', '')).reverse();
  expect(await textOf([...open, 'deep', ...close].join('\n'))).toContain('deep');
});
