import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { createFileSource, documentFileExists } from '../../src/adapters/files/file-source.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { AppError } from '../../src/faults/app-error.ts';
import { type IngestOptions, type IngestProgress, ingestSources } from '../../src/ingest/ingest.ts';
import type { DocumentSource } from '../../src/ports/document-source.ts';
import { type Embedder, WORD_DIMENSIONS } from '../../src/ports/embedder.ts';
import { findContentWords } from '../../src/text/content-words.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { createWordEmbedder } from '../support/word-embedder.ts';

/** A directory of documents with a collection beside it. */
async function library(files: Record<string, string> = {}) {
  const directory = await createTemporaryDirectory();
  const docs = join(directory, 'docs');
  const embedder = createWordEmbedder();
  const identity = { embedder: embedder.id, dimensions: embedder.dimensions };
  const store = await createSqliteCatalog(join(directory, 'home')).openOrCreate('c', identity);
  onTestFinished(() => store.close());

  const write = async (name: string, text: string | Uint8Array) => {
    await mkdir(dirname(join(docs, name)), { recursive: true });
    await writeFile(join(docs, name), text);
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);

  return {
    docs,
    store,
    embedder,
    write,
    rename: (from: string, to: string) => rename(join(docs, from), join(docs, to)),
    remove: (name: string) => rm(join(docs, name)),
    uri: (name: string) => pathToFileURL(join(docs, name)).href,
    async run(options: Partial<IngestOptions> = {}, sources?: DocumentSource[]) {
      embedder.embedded.length = 0;
      return ingestSources(
        sources ?? [await createFileSource(docs, { cwd: directory })],
        {
          store,
          parse: createDocumentParser(),
          embedder: async () => embedder,
          stillExists: documentFileExists,
          hasWords: false,
        },
        { prune: false, ...options },
      );
    },
    async texts() {
      const hits = await store.search({
        text: null,
        vector: await embedder.embedQuery('x'),
        limit: 100,
        filter: {},
      });
      return hits.map(({ chunk }) => chunk.text).sort();
    },
    async documents() {
      return Array.fromAsync(store.documents());
    },
  };
}

const nothing = {
  added: 0,
  changed: 0,
  renamed: 0,
  unchanged: 0,
  removed: 0,
  gone: [],
  empty: [],
  failed: [],
  chunks: 0,
  embeddedChunks: 0,
};

test('adds documents with title, module, chapter, url and headings', async () => {
  const { run, store, documents, uri } = await library({
    'ros2/01-nodes.md': '---\ntitle: Nodes\nlevel: basic\n---\n\n## Topics\n\nA topic is a channel.\n',
  });
  expect(await run()).toEqual({ ...nothing, added: 1, chunks: 1, embeddedChunks: 1 });
  expect(await documents()).toMatchObject([
    {
      title: 'Nodes',
      module: 'ros2',
      chapter: 'nodes',
      url: 'ros2/01-nodes.md',
      uri: uri('ros2/01-nodes.md'),
      metadata: { level: 'basic' },
    },
  ]);
  const [hit] = await store.search({ text: 'topic', vector: null, limit: 1, filter: { level: ['basic'] } });
  expect(hit?.chunk).toMatchObject({
    title: 'Nodes',
    headings: ['Topics'],
    chunkIndex: 0,
    text: 'A topic is a channel.',
    url: 'ros2/01-nodes.md',
    uri: uri('ros2/01-nodes.md'),
  });
});

test('gives documents the same chunk ids on every machine and after moving the root', async () => {
  const files = { 'a b.md': '# T\n\nAlpha.', 'guide/c.md': '# U\n\nBeta.' };
  const chunksIn = async (shelf: Awaited<ReturnType<typeof library>>) => {
    const writes = await shelf.store.read((await shelf.documents()).map(({ uri }) => uri));
    return writes.flatMap(({ document, chunks }) =>
      chunks.map(({ chunkId, tokenCount }) => [document.url, chunkId, tokenCount]),
    );
  };
  const here = await library(files);
  const there = await library(files);
  await here.run();
  await rename(there.docs, join(there.docs, '../by-another-name'));
  await there.run({}, [await createFileSource(join(there.docs, '../by-another-name'), { cwd: '/' })]);
  const chunks = await chunksIn(here);
  expect(await chunksIn(there)).toEqual(chunks);
  expect(chunks.map(([url]) => url)).toEqual(['a%20b.md', 'guide/c.md']);

  const moved = join(here.docs, '../elsewhere/handbook');
  await mkdir(dirname(moved));
  await rename(here.docs, moved);
  const source = () => createFileSource(moved, { cwd: '/' });
  expect(await here.run({}, [await source()])).toEqual({ ...nothing, renamed: 2, chunks: 2 });
  expect(await chunksIn(here)).toEqual(chunks);

  const again = join(here.docs, '../again/handbook');
  await mkdir(dirname(again));
  await rename(moved, again);
  await rm(join(again, 'a b.md'));
  const last = await here.run({ prune: true }, [await createFileSource(again, { cwd: '/' })]);
  expect(last).toMatchObject({ renamed: 1, removed: 1 });
  expect(await chunksIn(here)).toEqual(chunks.slice(1));
});

test('distinguishes roots of the same name, and places part of a root by the whole', async () => {
  const { docs, run, documents, write } = await library({
    'docs/x.md': 'Alpha.',
    'other/docs/x.md': 'Beta.',
    'more/docs/x.md': 'Zeta.',
    'notes.md': 'Gamma.',
    'other/notes.md': 'Delta.',
  });
  const from = (...names: string[]) =>
    Promise.all(names.map((name) => createFileSource(join(docs, name), { cwd: '/' })));
  const urls = async () => (await documents()).map(({ url }) => url).sort();
  const everything = ['docs', 'other/docs', 'more/docs', 'notes.md', 'other/notes.md'];
  await run({}, await from(...everything));
  const places = ['docs/x.md', 'more/docs/x.md', 'notes.md', 'other/docs/x.md', 'other/notes.md'];
  expect(await urls()).toEqual(places);
  expect(await run({}, await from(...everything.toReversed()))).toEqual({ ...nothing, unchanged: 5 });

  await write('other/docs/deep/y.md', 'Epsilon.');
  const part = await run({}, await from('other/docs/deep', 'other/docs/x.md'));
  expect(part).toMatchObject({ added: 1, unchanged: 1, changed: 0 });
  expect(await urls()).toEqual([...places, 'other/docs/deep/y.md'].sort());
});

test('does not embed unchanged documents', async () => {
  const { run, embedder } = await library({ 'a.md': 'Alpha.', 'b.md': 'Beta.' });
  await run();
  expect(await run()).toEqual({ ...nothing, unchanged: 2 });
  expect(embedder.embedded).toEqual([]);
});

test('replaces a changed document and embeds only its new chunks', async () => {
  const section = (name: string, word: string) => `## ${name}\n\n${`${word} `.repeat(40)}\n\n`;
  const { run, write, embedder, texts } = await library({
    'a.md': section('One', 'kept') + section('Two', 'old'),
  });
  expect(await run()).toMatchObject({ added: 1, chunks: 2, embeddedChunks: 2 });
  await write('a.md', section('One', 'kept') + section('Two', 'new'));
  expect(await run()).toEqual({ ...nothing, changed: 1, chunks: 2, embeddedChunks: 1 });
  expect(embedder.embedded).toHaveLength(1);
  expect((await texts()).map((text) => text.split(' ')[0])).toEqual(['kept', 'new']);
});

test('a renamed document replaces the old one and is not embedded again', async () => {
  const { run, rename, documents, embedder, uri } = await library({ 'a.md': '# Same title\n\nAlpha.' });
  await run();
  await rename('a.md', 'b.md');
  expect(await run()).toEqual({ ...nothing, renamed: 1, chunks: 1 });
  expect(embedder.embedded).toEqual([]);
  expect(await documents()).toMatchObject([{ uri: uri('b.md') }]);
});

test('a copied file is a separate document', async () => {
  const { run, write, documents } = await library({ 'a.md': '# T\n\nAlpha.' });
  await run();
  await write('b.md', '# T\n\nAlpha.');
  expect(await run()).toEqual({ ...nothing, added: 1, unchanged: 1, chunks: 1 });
  expect(await documents()).toHaveLength(2);
});

test('keeps deleted documents until they are pruned', async () => {
  const { run, remove, documents, uri } = await library({ 'a.md': 'Alpha.', 'b.md': 'Beta.' });
  await run();
  await remove('a.md');
  expect(await run()).toEqual({ ...nothing, unchanged: 1, gone: ['a.md'] });
  expect(await documents()).toHaveLength(2);
  expect(await run({ prune: true })).toEqual({ ...nothing, unchanged: 1, removed: 1 });
  expect(await documents()).toMatchObject([{ uri: uri('b.md') }]);
});

test('pruning one directory keeps documents of others', async () => {
  const { run, docs, remove, documents, uri } = await library({
    'x/a.md': 'Alpha.',
    'x/b.md': 'Beta.',
    'y/c.md': 'Gamma.',
  });
  await run();
  await remove('x/a.md');
  await remove('y/c.md');
  const onlyX = await createFileSource(join(docs, 'x'), { cwd: docs });
  expect(await run({ prune: true }, [onlyX])).toMatchObject({ removed: 1 });
  expect((await documents()).map((document) => document.uri)).toEqual([uri('x/b.md'), uri('y/c.md')]);
});

test('pruning removes ignored documents and keeps those that one run leaves out', async () => {
  const { run, docs, write, documents, uri } = await library({
    'a.md': 'Alpha.',
    'drafts/deep/b.md': 'Beta.',
    'c.md': 'Gamma.',
  });
  await run();
  const only = await createFileSource(docs, { cwd: docs, include: ['a.md'] });
  expect(await run({ prune: true }, [only])).toMatchObject({ unchanged: 1, removed: 0 });
  await write('.citeloopignore', 'drafts/\n');
  expect(await run()).toMatchObject({ unchanged: 2, removed: 0 });
  expect(await run({ prune: true })).toMatchObject({ unchanged: 2, removed: 1 });
  expect((await documents()).map((document) => document.uri)).toEqual([uri('a.md'), uri('c.md')]);
});

test('reports an unreadable document, keeps its earlier version and continues', async () => {
  const { run, write, texts, uri } = await library({ 'a.md': 'Alpha.', 'b.md': 'Beta.' });
  await run();
  await write('a.md', new Uint8Array([0x41, 0xff, 0xfe, 0x00]));
  await write('b.md', 'Better.');
  const summary = await run({ prune: true });
  expect(summary).toMatchObject({ changed: 1, removed: 0, failed: [{ uri: uri('a.md') }] });
  expect(await texts()).toEqual(['Alpha.', 'Better.']);
});

test('a base URL makes published addresses of slugs and paths', async () => {
  const { run, documents } = await library({
    '01-intro/README.md': 'Home.',
    '01-intro/02-first steps.md': 'Steps.',
    'a.md': '---\nslug: /other/place\n---\nA.',
    'deep/b.md': '---\nslug: relative\n---\nB.',
  });
  await run({ baseUrl: 'https://docs.example/site/' });
  expect((await documents()).map(({ url }) => url).sort()).toEqual([
    'https://docs.example/site/deep/relative',
    'https://docs.example/site/intro',
    'https://docs.example/site/intro/first%20steps',
    'https://docs.example/site/other/place',
  ]);
});

test('reports the second of two documents with the same address', async () => {
  const { run, documents } = await library({
    'a.md': '---\nslug: /same\n---\nA.',
    'b.md': '---\nslug: /same\n---\nB.',
  });
  const summary = await run({ baseUrl: 'https://docs.example' });
  expect(summary).toMatchObject({ added: 1, failed: [{ message: expect.stringContaining('same address') }] });
  expect(await documents()).toHaveLength(1);
});

test('another base URL changes the addresses and embeds nothing', async () => {
  const { run, documents, embedder } = await library({ 'a.md': 'Alpha.' });
  await run({ baseUrl: 'https://one.example' });
  expect(await run({ baseUrl: 'https://two.example' })).toMatchObject({ changed: 1, embeddedChunks: 0 });
  expect(embedder.embedded).toEqual([]);
  expect(await documents()).toMatchObject([{ url: 'https://two.example/a' }]);
});

test('an interrupted run keeps its documents and vectors, and the next embeds the rest', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `${String(i).padStart(2, '0')}.md`,
      Array.from({ length: 400 }, (_, j) => `word${i}x${j}`).join(' '),
    ]),
  );
  const { run, embedder, documents, store } = await library(files);
  const stop = new AbortController();
  const interrupted = new AppError('interrupted', 'Stopped.');
  const stopped = run({
    signal: stop.signal,
    onProgress: ({ embedding }) => {
      if ((embedding?.chunks ?? 0) > 170) stop.abort(interrupted);
    },
  });
  await expect(stopped).rejects.toBe(interrupted);
  expect(await documents()).toHaveLength(40);
  const { chunks, withoutVector } = await store.info();
  const done = embedder.embedded.length;
  expect(done).toBeGreaterThan(170);
  expect(withoutVector).toBe(chunks - done);
  expect(await store.search({ text: 'word39x399', vector: null, limit: 9, filter: {} })).toHaveLength(1);

  expect(await run()).toEqual({ ...nothing, unchanged: 40, embeddedChunks: chunks - done });
  expect(embedder.embedded).toHaveLength(chunks - done);
  expect(await store.info()).toMatchObject({ chunks, withoutVector: 0 });
  expect(await store.check()).toEqual([]);
});

test('finds documents by their words before they are embedded', async () => {
  const { run, embedder, store } = await library({ 'a.md': '# T\n\nAlpha.', 'b.md': 'Beta.' });
  const found: number[] = [];
  const { embedDocuments } = embedder;
  embedder.embedDocuments = async (texts, signal) => {
    for (const text of ['alpha', 'beta']) {
      found.push((await store.search({ text, vector: null, limit: 9, filter: {} })).length);
    }
    return embedDocuments(texts, signal);
  };
  await run();
  expect(found).toEqual([1, 1]);
  expect(embedder.embedded.toSorted()).toEqual(['T\nAlpha.', 'b\nBeta.']);
});

test('embeds the same text in several documents once', async () => {
  const { run, embedder } = await library({
    'a.md': '# T\n\nSame.',
    'b.md': '# T\n\nSame.',
    'c.md': '# T\n\nSame.',
  });
  expect(await run()).toMatchObject({ added: 3, chunks: 3, embeddedChunks: 1 });
  expect(embedder.embedded).toHaveLength(1);
});

test('progress only increases and ends with every document', async () => {
  const { run } = await library({ 'a.md': 'A.', 'b.md': 'B.', 'c.md': 'C.' });
  const seen: IngestProgress[] = [];
  await run({ onProgress: (progress) => seen.push(progress) });
  expect(seen.map(({ documents }) => documents)).toEqual(
    seen.map(({ documents }) => documents).toSorted((a, b) => a - b),
  );
  expect(seen.at(-1)).toEqual({
    documents: 3,
    totalDocuments: 3,
    reading: null,
    embedding: { chunks: 3, totalChunks: 3, share: 1 },
  });
});

test('skips empty documents, and names them', async () => {
  const { run, documents, write } = await library({ 'a.md': '', 'b.md': 'Beta.' });
  expect(await run()).toMatchObject({ added: 1, empty: ['a.md'] });
  expect(await documents()).toHaveLength(1);
  await write('a.md', 'Alpha.');
  expect(await run()).toMatchObject({ added: 1, empty: [] });
  await write('a.md', '');
  expect(await run()).toMatchObject({ changed: 1, chunks: 0 });
});

test('another root does not rename the documents before it', async () => {
  const { docs, run, documents } = await library({
    'aa/one.md': 'One.',
    'bb/two.md': 'Two.',
    'cc/two.md': 'Three.',
  });
  const from = (...names: string[]) =>
    Promise.all(names.map((name) => createFileSource(join(docs, name), { cwd: '/' })));
  const urls = async () => (await documents()).map(({ url }) => url).sort();
  await run({}, await from('aa', 'bb'));
  expect(await urls()).toEqual(['aa/one.md', 'bb/two.md']);
  await run({}, await from('cc'));
  await run({}, await from('bb', 'cc'));
  expect(await urls()).toEqual(['aa/one.md', 'bb/two.md', 'two.md']);
});

test('an error of the embedder stops the run', async () => {
  const { run, embedder } = await library({ 'a.md': 'A.' });
  embedder.embedDocuments = async () => {
    throw new AppError('rate_limit', 'Too many requests.');
  };
  await expect(run()).rejects.toMatchObject({ kind: 'rate_limit' });
});

test('a document changes with a file that it includes', async () => {
  const { run, write, texts } = await library({ 'a.md': 'Start.\n\n{* app.py *}\n', 'app.py': 'x = 1\n' });
  expect(await run()).toMatchObject({ added: 2 });
  await write('app.py', 'x = 2\n');
  expect(await run()).toMatchObject({ changed: 2, unchanged: 0 });
  expect((await texts()).join('\n')).toContain('Start.\n\n```py\nx = 2\n```');
});

test('adds word vectors to a collection without them, from its own texts', async () => {
  const { run, store, embedder, docs } = await library({ 'a.md': '# Owls\n\nOwls hunt at night.' });
  await run();
  const [chunk] = await store.unembedded({ words: true });
  const withWords: Embedder = {
    ...embedder,
    embedWords: async (texts) =>
      (await embedder.embedDocuments(texts)).map((vector, index) => ({
        vector,
        words: new Int8Array(findContentWords(texts[index] ?? '').length * WORD_DIMENSIONS).fill(6),
      })),
  };
  const summary = await ingestSources(
    [await createFileSource(docs, { cwd: docs })],
    {
      store,
      parse: () => Promise.reject(new Error('nothing is parsed')),
      embedder: async () => withWords,
      stillExists: documentFileExists,
      hasWords: true,
    },
    { prune: false },
  );
  expect(summary).toEqual({ ...nothing, unchanged: 1, embeddedChunks: 1 });
  const words = (await store.wordVectors([chunk?.chunkId ?? ''])).get(chunk?.chunkId ?? '');
  expect(words?.text).toHaveLength(3 * WORD_DIMENSIONS);
  expect(await store.unembedded({ words: true })).toEqual([]);
});
