import { expect, test } from 'vitest';
import { parseSource } from './parse-source.ts';

const textOf = async (source: string) => (await parseSource('mdx', source)).text;

test('drops imports, exports and expressions, and keeps the content of components', async () => {
  const source = [
    "import Tabs from '@theme/Tabs';\nexport const year = 2024;",
    '# Title {#id}',
    '{/* a comment */}',
    '<Tabs>\n  <TabItem value="a">\n\n  Inside *one*.\n\n  ```js\n  x\n  ```\n\n  </TabItem>\n</Tabs>',
    'Before <b>bold</b>{" "}after {year}, <Icon name="x" /><span>end</span>.',
    '<ul><li>one</li><li>two</li></ul>',
    ':::info With a title\nBody.\n:::',
  ].join('\n\n');
  expect(await textOf(source)).toBe(
    [
      'Title',
      'Inside one.',
      '```js\nx\n```',
      'Before bold after , end.',
      'one\ntwo',
      'With a title: Body.',
    ].join('\n\n'),
  );
});

test('keeps the labels of tabs and cards', async () => {
  const source =
    '<TabItem value="a" label="With npm">\n\n```sh\nx\n```\n\n</TabItem>\n\n<Card title="Start">\n\nRead.\n\n</Card>\n\n<Icon title="y" />';
  expect(await textOf(source)).toBe('With npm\n\n```sh\nx\n```\n\nStart: Read.');
});

test('parses invalid MDX as Markdown', async () => {
  const source =
    "import Tabs from '@theme/Tabs';\n\n# Title\n\n<!-- comment -->\n\nIf a < b {then: c\n\n<Tabs>Shown</Tabs>";
  expect(await textOf(source)).toBe('Title\n\nIf a < b {then: c\n\nShown');
});

test('takes the title from the front matter', async () => {
  const { title, metadata } = await parseSource('mdx', '---\ntitle: Intro\nid: intro\n---\n\n<Hero />\n');
  expect(title).toBe('Intro');
  expect(metadata).toEqual({ title: 'Intro', id: 'intro' });
});
