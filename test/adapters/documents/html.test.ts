import { expect, test } from 'vitest';
import { blocksOf, parseSource } from './parse-source.ts';

const html = (source: string | Uint8Array) => parseSource('html', source);
const textOf = async (source: string | Uint8Array) => (await html(source)).text;

test('reads title, description, language and canonical URL of the head', async () => {
  const { title, metadata } = await html(
    '<!doctype html><html lang="en"><head><title> The  page | Site </title><meta name="Description" content="What it is">' +
      '<link rel="canonical" href="https://x.y/z"></head><body><p>Text</p></body></html>',
  );
  expect(title).toBe('The page | Site');
  expect(metadata).toEqual({ lang: 'en', description: 'What it is', canonical: 'https://x.y/z' });
});

test('prefers a heading of level 1 to the title of the head', async () => {
  expect((await html('<title>Page | Site</title><h1>Page</h1>')).title).toBe('Page');
});

test('parses only the article of a documentation page', async () => {
  const page = `<body><a href="#main">Skip to main content</a><nav>Menu</nav><header><h1>Site</h1></header>
    <main><nav>Crumbs</nav><article><header><h1>Title<a class="hash-link" href="#t">&#8203;</a></h1></header>
    <p>Text.</p><aside>An aside of the text.</aside><a href="/edit">Edit this page</a>
    <footer>Tags</footer></article><div class="toc">Text</div></main><footer>Legal</footer></body>`;
  expect(await textOf(page)).toBe('Title\n\nText.\n\nAn aside of the text.');
});

test('parses a page without main or article as a whole', async () => {
  expect(await textOf('<header>Head</header><p>Text</p><footer>Foot</footer>')).toBe('Head\n\nText\n\nFoot');
});

test('drops what readers do not see', async () => {
  const source =
    '<p>Seen<script>1</script><style>p{}</style><noscript>no</noscript><span hidden>no</span><i aria-hidden="true">no</i>' +
    '<svg><text>no</text></svg><template>no</template><button>no</button><input value="no"><!-- no --></p>';
  expect(await textOf(source)).toBe('Seen');
});

test('keeps all kinds of blocks', async () => {
  const source = `<h2>Head <a href="#h">#</a></h2><p>Some <em>text</em>&nbsp;and <code>code</code>.<br>Next</p>
    <div class="highlight-python notranslate"><div class="highlight"><pre><span>def</span> f():\n    pass\n</pre></div></div>
    <pre><code class="language-js">a\n\nb</code></pre>
    <table><caption>Cap</caption><thead><tr><th>a</th><th>b</th></tr></thead><tr><td><p>1</p><p>2</p></td><td>3</td></tr></table>
    <ol start="2"><li>two<ul><li>in</li></ul></li><li><input type="checkbox" checked> done</li></ol>
    <dl><dt>Term</dt><dd>Meaning</dd></dl><blockquote>Quote</blockquote><figure><img alt="Alt"><figcaption>Fig</figcaption></figure>
    <div>a<div>b</div>c</div>`;
  expect(blocksOf(await html(source))).toEqual([
    ['heading', 2, 'Head'],
    ['paragraph', 0, 'Some text and code.\nNext'],
    ['code', 0, '```python\ndef f():\n    pass\n```'],
    ['code', 0, '```js\na\n\nb\n```'],
    ['paragraph', 0, 'Cap'],
    ['table', 0, '| a | b |\n| --- | --- |\n| 1 2 | 3 |'],
    ['item', 1, '2. two'],
    ['item', 2, '- in'],
    ['item', 1, '3. [x] done'],
    ['item', 1, '- Term: Meaning'],
    ['paragraph', 0, 'Quote'],
    ['paragraph', 0, 'Alt'],
    ['paragraph', 0, 'Fig'],
    ['paragraph', 0, 'a'],
    ['paragraph', 0, 'b'],
    ['paragraph', 0, 'c'],
  ]);
});

test('uses the first row of a table without a header as header', async () => {
  expect(await textOf('<table><tr><td>a</td></tr><tr><td>b</td></tr></table>')).toBe('| a |\n| --- |\n| b |');
});

test('decodes by byte order mark, declared charset, or as UTF-8', async () => {
  const latin = Buffer.from('<meta charset="windows-1252"><p>caf\xe9</p>', 'latin1');
  expect(await textOf(latin)).toBe('café');
  expect(await textOf('\ufeff<meta charset="windows-1252"><p>café</p>')).toBe('café');
  expect(await textOf('<p>café</p>')).toBe('café');
  const wide = Buffer.from('\ufeff<meta charset="utf-8"><p>café</p>', 'utf16le');
  expect(await textOf(wide)).toBe('café');
});
