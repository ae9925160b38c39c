import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

const markdown = (source: string) => parseSource('markdown', source);
const textOf = async (source: string) => (await markdown(source)).text;

test('removes inline markup', async () => {
  const source =
    'Call `foo_bar()` with **care**, see [the docs](https://x.y "t") and ![a logo](l.png), ~~or~~ <b>not</b> &copy;.';
  expect(await textOf(source)).toBe(
    'Call foo_bar() with care, see [the docs](https://x.y) and a logo, or not ©.',
  );
});

test('leaves out badges', async () => {
  const badge = '[![CI](https://x.y/ci.svg)](https://x.y)';
  const html = '<p><a href="https://x.y"><img src="b.svg" alt="build"></a></p>';
  expect(await textOf(`${badge}\n\n${html}\n\nIt copies files.`)).toBe('It copies files.');
});

test('a soft break is a space and a hard break is a newline', async () => {
  expect(await textOf('one\ntwo  \nthree\\\nfour')).toBe('one two\nthree\nfour');
});

test('headings keep their level and lose custom ids', async () => {
  const document = await markdown('# The *title* {#top}\n\nSub `code`\n---\n\n###### Deep');
  expect(blocksOf(document)).toEqual([
    ['heading', 1, 'The title'],
    ['heading', 2, 'Sub code'],
    ['heading', 6, 'Deep'],
  ]);
});

test('the title is from the front matter, the first heading of level 1, or null', async () => {
  expect((await markdown('---\ntitle: "From: matter"\n---\n# Heading')).title).toBe('From: matter');
  expect((await markdown('## Sub\n\n# Heading')).title).toBe('Heading');
  expect((await markdown('Just text')).title).toBeNull();
});

test('front matter becomes metadata with its scalars as strings', async () => {
  const source = '---\nversion: 1.10\ndate: 2024-01-02\ntags: [a, b]\nnested: {x: 1}\nempty:\n---\n\nBody';
  const { metadata, text } = await markdown(source);
  expect(metadata).toEqual({ version: '1.10', date: '2024-01-02', tags: 'a, b' });
  expect(text).toBe('Body');
});

test('ignores invalid front matter', async () => {
  const { metadata, text } = await markdown('---\ntitle: [unclosed\n  - "x\n---\n\nBody');
  expect(metadata).toEqual({});
  expect(text).toBe('Body');
});

test('keeps code verbatim in one fenced block with its language', async () => {
  const source = '```js {1} title="src/app.js"\nconst a = 1;\n\n  # **not** markup\n```\n\n    indented';
  expect(blocksOf(await markdown(source))).toEqual([
    ['paragraph', 0, 'src/app.js'],
    ['code', 0, '```js\nconst a = 1;\n\n  # **not** markup\n```'],
    ['code', 0, '```\nindented\n```'],
  ]);
});

test('uses a longer fence for code that contains one', async () => {
  expect(await textOf('````md\n```js\n```\n````')).toBe('````md\n```js\n```\n````');
});

test('each list item is a block, with its other content after it', async () => {
  const source =
    '3. one\n4. two\n   - nested\n\n     more\n\n     ```py\n     x = 1\n     ```\n5. [x] done\n';
  const document = await markdown(source);
  expect(blocksOf(document)).toEqual([
    ['item', 1, '3. one'],
    ['item', 1, '4. two'],
    ['item', 2, '- nested'],
    ['paragraph', 0, 'more'],
    ['code', 0, '```py\nx = 1\n```'],
    ['item', 1, '5. [x] done'],
  ]);
  expect(document.text.startsWith('3. one\n4. two\n  - nested\n\nmore\n\n```py')).toBe(true);
});

test('a table is one block', async () => {
  const document = await markdown('| a | **b** |\n|:--|--:|\n| `x \\| y` | [z](u) |\n| only |');
  expect(blocksOf(document)).toEqual([
    ['table', 0, '| a | b |\n| --- | --- |\n| x \\| y | z |\n| only |  |'],
  ]);
});

test('admonitions of Docusaurus, VitePress and GitHub start with their title', async () => {
  const source = [
    ':::note Be careful!\n\nOne.\n\n:::',
    '::: tip\nTwo.\n:::',
    ':::warning[Hot **stuff**]\n- three\n:::',
    '> [!CAUTION]\n> Four.',
    ':::tabs\nFive.\n:::',
  ].join('\n\n');
  expect(await textOf(source)).toBe(
    'Be careful! One.\n\nTip: Two.\n\nHot stuff\n\n- three\n\nCaution: Four.\n\nFive.',
  );
});

test('admonitions, tabs and blocks of MkDocs become their content with a title', async () => {
  const text = await textOf(
    [
      '!!! note "Mind the gap"',
      '',
      '    It is wide.',
      '',
      '=== "macOS"',
      '',
      '    ```sh',
      '    rm -r x',
      '    ```',
      '',
      '/// warning | Careful',
      '',
      'Hot.',
      '',
      '///',
    ].join('\n'),
  );
  expect(text).toBe('Mind the gap\n\nIt is wide.\n\nmacOS\n\n```sh\nrm -r x\n```\n\nCareful\n\nHot.');
});

test('keeps an admonition inside code', async () => {
  const code = '```md\n:::note A title\n::: tip\ntext\n:::\n```';
  expect(await textOf(code)).toBe(code);
});

test('does not treat text with colons as a directive', async () => {
  const text = 'At 10:30 use std::vector, :name and a:b[c]{d=e} of http://localhost:port/x.';
  expect(await textOf(text)).toBe(text);
  expect(await textOf('::leaf[label]{key=value}')).toBe('::leaf[label]{key=value}');
});

test('keeps the text of raw HTML without tags, scripts and comments', async () => {
  const source = [
    '<details>\n<summary>More</summary>\n\nInner **text**\n\n</details>',
    '<div align="center"><p>Raw <img alt="logo"> text</p><script>evil()</script><ul><li>x</li></ul></div>',
    '<!-- a comment -->',
    'Line<br>break, H<sub>2</sub>O <script>evil()</script>done <img src="x" alt="a &amp; b">',
  ].join('\n\n');
  expect(await textOf(source)).toBe(
    'More\n\nInner text\n\nRaw logo text\n\n- x\n\nLine\nbreak, H2O done a & b',
  );
});

test('keeps a placeholder that looks like a tag', async () => {
  expect(await textOf('Use Vec<T> or <name> in `a<b>`.')).toBe('Use Vec<T> or <name> in a<b>.');
});

test('keeps the text of quotes and footnotes, and drops link definitions and rules', async () => {
  const source =
    '> Quoted\n> > deeper\n\nText[^a] and [link][ref].\n\n---\n\n[^a]: The note.\n\n[ref]: https://x.y';
  expect(await textOf(source)).toBe(
    'Quoted\n\ndeeper\n\nText[^a] and [link](https://x.y).\n\n[^a]: The note.',
  );
});

test('does not parse Markdown as MDX', async () => {
  expect(await textOf('import x from "y"\n\nA {brace} and a < b.')).toBe(
    'import x from "y"\n\nA {brace} and a < b.',
  );
});

test('drops attribute lists after headings, paragraphs, items, links and code', async () => {
  const source = [
    '# Title { #top .big }',
    'See [a](https://x.y){ .md-button target=_blank } and ![b](b.png){ width=300 } or `c`{.py}.\n{ .annotate }',
    '- item\n{: .note }',
    'Braces {like=this} and {these} stay.',
    '``` { .dockerfile .annotate }\nFROM x\n```',
  ].join('\n\n');
  expect(await textOf(source)).toBe(
    'Title\n\nSee [a](https://x.y) and b or c.\n\n- item\n\nBraces {like=this} and {these} stay.\n\n```dockerfile\nFROM x\n```',
  );
});

test('badges are neither text nor part of the title', async () => {
  const source = [
    '# Foxes [![CI](https://github.com/a/b/actions/workflows/ci.yml/badge.svg)](https://github.com/a/b)',
    '[![Coverage][cov]][site] ![A fox](fox.png)',
    '<p><a href="https://x.y"><img src="https://img.shields.io/npm/v/foxes" alt="Version"></a></p>',
    '[cov]: https://codecov.io/gh/a/b/graph/badge.svg\n[site]: https://codecov.io',
  ].join('\n\n');
  const { title, text } = await markdown(source);
  expect([title, text]).toEqual(['Foxes', 'Foxes\n\nA fox']);
});

test('admonitions of MkDocs may have no space, or a title only', async () => {
  const text = await textOf(
    '!!!info "A "b""\n    One.\n\n!!! warning "No `@`."\n\n???+ tip\n    Two.\n\n!!! note\n\nThree!!!\n\n??? "x"',
  );
  expect(text).toBe('A "b": One.\n\nNo @.\n\nTip: Two.\n\n!!! note\n\nThree!!!\n\n??? "x"');
});

test('code keeps the label of its tab', async () => {
  const fence = (info: string) => `\`\`\`${info}\nx\n\`\`\``;
  const source = [
    fence('yaml tab="Helm values"'),
    `::: code-group\n\n${fence('js [vite.config.js]')}\n\n:::`,
    fence('js {1,2} title="a.js"'),
    `<Tabs>\n<TabItem value="a" label="With npm">\n\n${fence('sh')}\n\n</TabItem>\n</Tabs>`,
    fence('js [1'),
  ].join('\n\n');
  expect(await textOf(source)).toBe(
    [
      `Helm values\n\n${fence('yaml')}`,
      `vite.config.js\n\n${fence('js')}`,
      `a.js\n\n${fence('js')}`,
      `With npm\n\n${fence('sh')}`,
      fence('js'),
    ].join('\n\n'),
  );
});

test('encoded text is code, and long runs of it are abridged', async () => {
  const line = `MIIB9TCCAWACAQAw${'gbgxGTAXBgNVBAoM'.repeat(3)}`;
  const certificate = `-----BEGIN CERTIFICATE-----\n${line}\n${line}\n-----END CERTIFICATE-----`;
  expect(blocksOf(await markdown(certificate)).map(([kind]) => kind)).toEqual(['code']);
  expect(await textOf(`Data: ${line.repeat(10)}, ${'x'.repeat(600)}.`)).toBe(
    `Data: ${line}…, ${'x'.repeat(600)}.`,
  );
});
