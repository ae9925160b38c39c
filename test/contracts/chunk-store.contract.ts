import { describe, expect, onTestFinished, test } from 'vitest';
import { formatHint } from '../../src/cli/format-advice.ts';
import { retrievedChunkSchema } from '../../src/domain/retrieved-chunk.ts';
import { AppError } from '../../src/faults/app-error.ts';
import type {
  ChunkRecord,
  ChunkStore,
  ChunkWords,
  CollectionCatalog,
  StoreHit,
  StoreSearchRequest,
} from '../../src/ports/chunk-store.ts';
import { WORD_DIMENSIONS, WORD_VALUE_STEP } from '../../src/ports/embedder.ts';
import { scoreWords } from '../../src/retrieval/word-similarity.ts';
import { blend, type SampleDocument, sampleDocument, vectorOf } from './sample-documents.ts';

const DIMENSIONS = 40;
const IDENTITY = { embedder: 'test:forty', dimensions: DIMENSIONS };

/** The contract of every ChunkStore. `createCatalog` returns an empty catalog and cleans up after the test. */
export function describeChunkStore(name: string, createCatalog: () => Promise<CollectionCatalog>): void {
  describe(name, () => {
    async function openStore(): Promise<{ catalog: CollectionCatalog; store: ChunkStore }> {
      const catalog = await createCatalog();
      const store = await catalog.openOrCreate('book', IDENTITY);
      onTestFinished(() => store.close());
      return { catalog, store };
    }

    async function openSecond(catalog: CollectionCatalog): Promise<ChunkStore> {
      const store = await catalog.open('book');
      if (store === null) throw new Error('the collection is not there');
      onTestFinished(() => store.close());
      return store;
    }

    test('an empty catalog lists and opens nothing', async () => {
      const catalog = await createCatalog();
      expect(await catalog.list()).toEqual([]);
      expect(await catalog.open('book')).toBeNull();
      expect(await catalog.delete('book')).toBe(false);
      expect(await catalog.list()).toEqual([]);
    });

    test('lists collections in alphabetical order, each with its own documents', async () => {
      const catalog = await createCatalog();
      for (const collection of ['pears', 'apples']) {
        const store = await catalog.openOrCreate(collection, IDENTITY);
        await store.write([doc(collection, { chunks: [`all about ${collection}`] })]);
        await store.close();
      }
      expect(await catalog.list()).toEqual(['apples', 'pears']);
      const apples = await catalog.open('apples');
      expect(apples?.name).toBe('apples');
      expect(apples?.identity).toEqual(IDENTITY);
      expect(textsOf(await find(apples as ChunkStore, { text: 'apples pears' }))).toEqual([
        'all about apples',
      ]);
      await apples?.close();
    });

    test('keeps the location of chunks', async () => {
      const { store } = await openStore();
      const write = doc('placed', { chunks: ['with lines', 'without'] });
      const location = { unit: 'line' as const, from: 3, to: 9 };
      const [first, second] = write.chunks;
      await store.write([
        { ...write, chunks: [{ ...(first as ChunkRecord), location }, second as ChunkRecord] },
      ]);
      const [hit] = await find(store, { text: 'lines' });
      expect(hit?.chunk.location).toEqual(location);
      const [read] = await store.read([write.document.uri]);
      expect(read?.chunks.map((chunk) => chunk.location)).toEqual([location, undefined]);
      const around = await store.neighbours(hit?.chunk.chunkId ?? '', 1, 1);
      expect(around.map((chunk) => chunk.location)).toEqual([location, undefined]);
    });

    test('deletes a collection; a new one of the same name is empty', async () => {
      const { catalog, store } = await openStore();
      await store.write([doc('a', { chunks: ['some text'] })]);
      await store.close();
      expect(await catalog.delete('book')).toBe(true);
      expect(await catalog.list()).toEqual([]);
      expect(await catalog.open('book')).toBeNull();
      const again = await catalog.openOrCreate('book', { embedder: 'test:other', dimensions: 8 });
      expect(await again.count({})).toBe(0);
      expect(again.identity).toEqual({ embedder: 'test:other', dimensions: 8 });
      await again.close();
    });

    test('refuses to open a collection with another embedder or other dimensions', async () => {
      const { catalog, store } = await openStore();
      await store.write([doc('a', { chunks: ['some text'] })]);
      for (const identity of [
        { embedder: 'test:other', dimensions: DIMENSIONS },
        { embedder: IDENTITY.embedder, dimensions: 8 },
      ]) {
        const refused = await catalog.openOrCreate('book', identity).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(AppError);
        expect(refused).toMatchObject({ kind: 'configuration_error' });
        expect(formatHint(refused as AppError)).toContain('collections delete book');
      }
      const again = await catalog.openOrCreate('book', IDENTITY);
      expect(await again.count({})).toBe(1);
      await again.close();
    });

    test('an empty collection returns nothing', async () => {
      const { store } = await openStore();
      for (const request of [{ text: 'robot' }, { vector: vectorOf('robot', DIMENSIONS) }]) {
        expect(await find(store, request)).toEqual([]);
        expect(await find(store, { ...request, filter: { module: ['ros2'] } })).toEqual([]);
      }
      expect(await store.count({})).toBe(0);
      expect(await store.chunks(['nothing'])).toEqual([]);
      expect(await store.neighbours('nothing', 1, 1)).toEqual([]);
      expect(await store.vectors(['nothing'])).toEqual(new Map());
      expect(await documentsOf(store)).toEqual([]);
      expect(await store.info()).toMatchObject({ documents: 0, chunks: 0, modules: [] });
      await store.write([]);
      await store.remove([]);
      await store.settle();
      expect(await store.check()).toEqual([]);
    });

    test('keeps the description of a collection until it is removed', async () => {
      const { catalog, store } = await openStore();
      expect((await store.info()).description ?? null).toBeNull();
      await store.describe?.('A book about "robots"');
      expect((await store.info()).description).toBe('A book about "robots"');
      expect((await (await openSecond(catalog)).info()).description).toBe('A book about "robots"');
      await store.describe?.(null);
      expect((await store.info()).description).toBeNull();
      expect((await (await openSecond(catalog)).info()).description ?? null).toBeNull();
    });

    test('counts the chunks that have a term', async () => {
      const { store } = await openStore();
      expect(await store.containing?.(['owl'])).toEqual(new Map());
      await store.write([
        doc('a', { title: 'Owls', chunks: ['An owl, an owl.', 'nothing else'] }),
        doc('b', { chunks: ['newts'] }),
      ]);
      const terms = ['owl', 'newt', 'toad'];
      const expected = new Map([
        ['owl', 2],
        ['newt', 1],
      ]);
      expect(await store.containing?.(terms)).toEqual(expected);
      const many = Array.from({ length: 500 }, (_, index) => `none${index}`);
      expect([...((await store.containing?.([...terms, ...many])) ?? [])].sort()).toEqual([
        ['newt', 1],
        ['owl', 2],
      ]);
      await store.remove([doc('b', { chunks: [] }).document.uri]);
      expect(await store.containing?.(terms)).toEqual(new Map([['owl', 2]]));
    });

    test('returns documents as written, ordered by URI', async () => {
      const { store } = await openStore();
      const writes = [
        doc('b', { title: 'Bé "quoted"', chunks: ['text of b'] }),
        doc('a', {
          module: 'ros2',
          chapter: 'Nodes',
          metadata: { author: "O'Hara", 'odd."key\\': 'ü', empty: '' },
          chunks: ['first', 'second'],
        }),
      ];
      await store.write(writes);
      expect(await documentsOf(store)).toEqual([writes[1]?.document, writes[0]?.document]);
    });

    test('returns a file: address as a path below the root', async () => {
      const { store } = await openStore();
      const uri = 'file:///book/guide/a.md';
      const write = doc('a', { uri, url: uri, chunks: ['zebra'] });
      await store.write([write]);
      const ids = write.chunks.map(({ chunkId }) => chunkId);
      const [hit] = await find(store, { text: 'zebra' });
      for (const found of [hit?.chunk, ...(await store.chunks(ids)), ...(await documentsOf(store))])
        expect(found).toMatchObject({ url: 'guide/a.md', uri });
    });

    test('stores, replaces and removes a document without chunks', async () => {
      const { store } = await openStore();
      await store.write([doc('a', { chunks: [] })]);
      expect(await store.info()).toMatchObject({ documents: 1, chunks: 0 });
      await store.write([doc('a', { chunks: ['now there is text'] })]);
      expect(await store.count({})).toBe(1);
      await store.write([doc('a', { chunks: [] })]);
      await store.remove(['file:///book/a.md']);
      expect(await documentsOf(store)).toEqual([]);
      expect(await store.check()).toEqual([]);
    });

    test('replaces a document whole', async () => {
      const { store } = await openStore();
      await store.write([doc('a', { chunks: ['old zebra one', 'old zebra two', 'old zebra three'] })]);
      const kept = doc('b', { chunks: ['bystander'] });
      await store.write([kept]);
      const renewed = doc('a', { title: 'Renewed', chunks: ['new walrus'] });
      await store.write([renewed]);
      expect(await find(store, { text: 'zebra' })).toEqual([]);
      expect(textsOf(await find(store, { text: 'walrus' }))).toEqual(['new walrus']);
      expect(textsOf(await find(store, { vector: vectorOf('old zebra two', DIMENSIONS) }))).toHaveLength(2);
      expect(await documentsOf(store)).toEqual([renewed.document, kept.document]);
      expect(await store.count({})).toBe(2);
      expect(await store.check()).toEqual([]);
    });

    test('removes documents and ignores unknown ones', async () => {
      const { store } = await openStore();
      await store.write([doc('a', { chunks: ['zebra'] }), doc('b', { chunks: ['walrus'] })]);
      const { updatedAt } = await store.info();
      await store.remove(['file:///book/unknown.md']);
      expect((await store.info()).updatedAt).toBe(updatedAt);
      await store.remove(['file:///book/a.md', 'file:///book/a.md', 'file:///book/unknown.md']);
      expect(textsOf(await find(store, { vector: vectorOf('zebra', DIMENSIONS) }))).toEqual(['walrus']);
      expect(await find(store, { text: 'zebra' })).toEqual([]);
      expect(await store.info()).toMatchObject({ documents: 1, chunks: 1 });
      expect(await store.check()).toEqual([]);
    });

    test('a renamed document replaces the earlier one', async () => {
      const { store } = await openStore();
      await store.write([doc('old', { url: 'https://book.example/same', chunks: ['zebra'] })]);
      const renamed = doc('new', {
        url: 'https://book.example/same',
        replaces: 'file:///book/old.md',
        chunks: ['zebra'],
      });
      await store.write([renamed]);
      expect(await documentsOf(store)).toEqual([renamed.document]);
      expect(await find(store, { text: 'zebra' })).toHaveLength(1);
      expect(await store.check()).toEqual([]);
    });

    test('exchanges the addresses of two documents in one batch', async () => {
      const { store } = await openStore();
      const [x, y] = ['https://book.example/x', 'https://book.example/y'];
      await store.write([doc('a', { url: x, chunks: ['zebra'] }), doc('b', { url: y, chunks: ['walrus'] })]);
      await store.write([doc('a', { url: y, chunks: ['zebra'] }), doc('b', { url: x, chunks: ['walrus'] })]);
      expect((await documentsOf(store)).map(({ uri, url }) => [uri, url])).toEqual([
        ['file:///book/a.md', y],
        ['file:///book/b.md', x],
      ]);
      expect(await store.check()).toEqual([]);
    });

    test('the last version of a document in a batch wins', async () => {
      const { store } = await openStore();
      await store.write([doc('a', { chunks: ['zebra', 'zebra again'] }), doc('a', { chunks: ['walrus'] })]);
      expect(await store.info()).toMatchObject({ documents: 1, chunks: 1 });
      expect(textsOf(await find(store, { text: 'zebra walrus' }))).toEqual(['walrus']);
    });

    test('stores the same text in several documents and several times in one', async () => {
      const { store } = await openStore();
      await store.write([
        doc('a', { chunks: ['same words', 'same words'] }),
        doc('b', { chunks: ['same words'] }),
      ]);
      expect(await find(store, { text: 'words', vector: vectorOf('same words', DIMENSIONS) })).toHaveLength(
        3,
      );
      await store.remove(['file:///book/a.md']);
      expect(await find(store, { text: 'words', vector: vectorOf('same words', DIMENSIONS) })).toHaveLength(
        1,
      );
    });

    test('refuses a batch with the address of another document', async () => {
      const { store } = await openStore();
      const url = 'https://book.example/same';
      await store.write([doc('a', { url, chunks: ['zebra'] })]);
      const refused = store.write([doc('c', { chunks: ['walrus'] }), doc('b', { url, chunks: ['walrus'] })]);
      await expect(refused).rejects.toMatchObject({
        kind: 'invalid_input',
        message: expect.stringContaining(url),
      });
      expect((await documentsOf(store)).map(({ uri }) => uri)).toEqual(['file:///book/a.md']);
      expect(await find(store, { text: 'walrus' })).toEqual([]);
      expect(await store.check()).toEqual([]);
    });

    test('refuses vectors of another length or with NaN', async () => {
      const { store } = await openStore();
      const broken = vectorOf('broken', DIMENSIONS);
      broken[3] = Number.NaN;
      for (const vector of [vectorOf('short', 8), broken]) {
        const write = doc('b', { chunks: [{ text: 'bad', vector }] });
        await expect(store.write([doc('a', { chunks: ['good'] }), write])).rejects.toBeInstanceOf(AppError);
      }
      expect(await store.count({})).toBe(0);
      await expect(find(store, { vector: vectorOf('short', 8) })).rejects.toMatchObject({
        kind: 'configuration_error',
      });
    });

    test('a reader never sees two versions of a document while it is replaced', async () => {
      const { catalog, store } = await openStore();
      const reader = await openSecond(catalog);
      const version = (number: number) =>
        doc('a', {
          metadata: { version: String(number) },
          chunks: Array.from({ length: number % 2 === 0 ? 4 : 7 }, (_, i) => `zebra ${i} version${number}`),
        });
      await store.write([version(0)]);
      let done = false;
      const writing = (async () => {
        for (let number = 1; number <= 30; number += 1) {
          await store.write([version(number)]);
          await new Promise(setImmediate);
        }
        done = true;
      })();
      while (!done) {
        const hits = await find(reader, { text: 'zebra', vector: vectorOf('zebra', DIMENSIONS) });
        const versions = new Set(hits.map(({ chunk }) => chunk.text.split('version')[1]));
        expect(versions.size).toBe(1);
        expect(hits).toHaveLength(Number([...versions][0]) % 2 === 0 ? 4 : 7);
        await new Promise(setImmediate);
      }
      await writing;
    });

    test('an open handle sees what another writes, replaces and removes', async () => {
      const { catalog, store } = await openStore();
      const second = await openSecond(catalog);
      const seen = async () => textsOf(await find(second, { vector: vectorOf('zebra', DIMENSIONS) })).sort();
      expect(await seen()).toEqual([]);
      await store.write([doc('a', { chunks: ['zebra'] })]);
      expect(await seen()).toEqual(['zebra']);
      await store.write([doc('a', { chunks: ['okapi'] }), doc('b', { chunks: ['walrus'] })]);
      expect(await seen()).toEqual(['okapi', 'walrus']);
      await store.settle();
      expect(await seen()).toEqual(['okapi', 'walrus']);
      await second.remove(['file:///book/a.md']);
      expect(await seen()).toEqual(['walrus']);
      expect(textsOf(await find(store, { text: 'okapi walrus' }))).toEqual(['walrus']);
    });

    test('keeps documents after closing and reopening', async () => {
      const { catalog, store } = await openStore();
      await store.write([doc('a', { module: 'ros2', chunks: ['zebra'] })]);
      const before = await find(store, { text: 'zebra', vector: vectorOf('zebra', DIMENSIONS) });
      await store.close();
      await store.close();
      const again = await openSecond(catalog);
      expect(await find(again, { text: 'zebra', vector: vectorOf('zebra', DIMENSIONS) })).toEqual(before);
    });

    test('a text search returns lexical ranks only', async () => {
      const { store } = await openStore();
      await writeAnimals(store);
      const hits = await find(store, { text: 'zebra stripes' });
      expectOrdered(hits);
      expect(textsOf(hits)[0]).toBe('zebra stripes are black and white');
      expect(textsOf(hits)).not.toContain('walrus tusks are long');
      expect(hits.map(({ lexical }) => lexical?.rank)).toEqual(hits.map((_, index) => index + 1));
      for (const hit of hits) {
        expect(hit.dense).toBeNull();
        expect(hit.score).toBe(hit.lexical?.score);
      }
    });

    test('a chunk with all words of the query scores high even if every chunk has them', async () => {
      const { store } = await openStore();
      await store.write([doc('a', { chunks: ['the only zebra'] })]);
      const [hit] = await find(store, { text: 'zebra' });
      expect(hit?.score).toBeGreaterThan(0.5);
    });

    test('ranks chunks that have all query terms by length', async () => {
      const { store } = await openStore();
      const filler = (words: number) =>
        Array.from({ length: words }, (_, index) => `filler${index}`).join(' ');
      // The best is written last, so that the order does not come from writing.
      const matching = [8, 6, 4, 2, 0].map((words) => `zebra zebra zebra ${filler(words)}`.trim());
      const others = Array.from({ length: 20 }, (_, index) => `${filler(30)} other${index}`);
      await store.write([...matching, ...others].map((text, index) => doc(`t${index}`, { chunks: [text] })));
      const hits = await find(store, { text: 'zebra' });
      expect(textsOf(hits)).toEqual(matching.toReversed());
      expect(hits.map(({ lexical }) => lexical?.rank)).toEqual([1, 2, 3, 4, 5]);
    });

    test('a vector search returns cosines in order and no lexical ranks', async () => {
      const { store } = await openStore();
      const query = vectorOf('query', DIMENSIONS);
      const other = vectorOf('other', DIMENSIONS);
      const shares = [0.4, 0, 0.8, 0.2, 0.6];
      await store.write(
        shares.map((share) =>
          doc(`near-${share}`, { chunks: [{ text: `share ${share}`, vector: blend(query, other, share) }] }),
        ),
      );
      const hits = await find(store, { vector: query });
      expectOrdered(hits);
      expect(textsOf(hits)).toEqual(['share 0', 'share 0.2', 'share 0.4', 'share 0.6', 'share 0.8']);
      expect(hits[0]?.score).toBeCloseTo(1, 5);
      hits.forEach((hit, index) => {
        expect(hit.lexical).toBeNull();
        expect(hit.dense?.rank).toBe(index + 1);
        const exact = cosine(query, blend(query, other, shares.toSorted()[index] ?? 0));
        expect(hit.dense?.score).toBeCloseTo(exact, 5);
      });
    });

    test('an opposite vector scores 0', async () => {
      const { store } = await openStore();
      const query = vectorOf('query', DIMENSIONS);
      await store.write([doc('a', { chunks: [{ text: 'opposite', vector: query.map((value) => -value) }] })]);
      const [hit] = await find(store, { vector: query });
      expect(hit).toMatchObject({ score: 0, fusedScore: 0 });
      expect(hit?.dense?.score).toBeCloseTo(-1, 5);
    });

    test('a hybrid search ranks chunks found by both first', async () => {
      const { store } = await openStore();
      const query = vectorOf('query', DIMENSIONS);
      const other = vectorOf('other', DIMENSIONS);
      await store.write([
        doc('words', { chunks: [{ text: 'the zebra', vector: other }] }),
        doc('meaning', { chunks: [{ text: 'a striped horse', vector: blend(query, other, 0.1) }] }),
        doc('both', { chunks: [{ text: 'one zebra', vector: blend(query, other, 0.1) }] }),
        doc('neither', { chunks: [{ text: 'a walrus', vector: vectorOf('far', DIMENSIONS) }] }),
      ]);
      const hits = await find(store, { text: 'zebra', vector: query });
      expectOrdered(hits);
      expect(hits[0]?.chunk.text).toBe('one zebra');
      expect(textsOf(hits).slice(1, 3).sort()).toEqual(['a striped horse', 'the zebra']);
      const byText = new Map(hits.map((hit) => [hit.chunk.text, hit]));
      expect(byText.get('the zebra')?.dense?.score).toBeCloseTo(cosine(query, other), 5);
      expect(byText.get('a striped horse')?.lexical).toBeNull();
    });

    test('returns the best hits up to the limit', async () => {
      const { store } = await openStore();
      await writeAnimals(store);
      const request = { text: 'are', vector: vectorOf('zebra', DIMENSIONS) };
      const all = await find(store, { ...request, limit: 100 });
      expect(all.length).toBeGreaterThan(3);
      expect(await find(store, { ...request, limit: 3 })).toEqual(all.slice(0, 3));
    });

    test('returns more hits than the default number of candidates', async () => {
      const { store } = await openStore();
      const chunks = Array.from({ length: 300 }, (_, index) => `zebra number${index}`);
      await store.write([doc('many', { chunks })]);
      for (const request of [{ text: 'zebra' }, { vector: vectorOf('zebra', DIMENSIONS) }]) {
        const hits = await find(store, { ...request, limit: 250 });
        expect(new Set(textsOf(hits)).size).toBe(250);
      }
    });

    test('returns all fields of a chunk', async () => {
      const { store } = await openStore();
      const written = doc('nodes', {
        title: 'Nodes',
        module: 'ros2',
        chapter: 'Graph',
        chunks: ['first', { text: 'a node spins', headings: ['Nodes', 'Spinning'] }],
      });
      await store.write([written]);
      const [hit] = await find(store, { text: 'spins' });
      const { chunkId, contentHash, tokenCount } = written.chunks[1] ?? {};
      expect(hit?.chunk).toEqual({
        chunkId,
        contentHash,
        tokenCount,
        text: 'a node spins',
        url: 'https://book.example/nodes',
        uri: 'file:///book/nodes.md',
        title: 'Nodes',
        module: 'ros2',
        chapter: 'Graph',
        headings: ['Nodes', 'Spinning'],
        chunkIndex: 1,
      });
    });

    test('searches titles and headings', async () => {
      const { store } = await openStore();
      await store.write([
        doc('a', { title: 'Quaternions', chunks: [{ text: 'about turning', headings: ['Gimbal lock'] }] }),
        doc('b', { title: 'Other', chunks: ['about something else'] }),
      ]);
      expect(textsOf(await find(store, { text: 'quaternion' }))).toEqual(['about turning']);
      expect(textsOf(await find(store, { text: 'gimbal' }))).toEqual(['about turning']);
    });

    test.each([
      ['module', { module: ['ros2'] }, ['zebra one', 'zebra two']],
      ['chapter', { chapter: ['Nodes'] }, ['zebra one']],
      ['title', { title: ['Second'] }, ['zebra two']],
      ['url', { url: ['https://book.example/three'] }, ['zebra three']],
      ['metadata', { author: ["O'Hara"] }, ['zebra one', 'zebra three']],
      ['several values', { chapter: ['Nodes', 'Topics'] }, ['zebra one', 'zebra two']],
      ['several keys', { module: ['ros2'], author: ["O'Hara"] }, ['zebra one']],
      ['a value nothing has', { module: ['cooking'] }, []],
      ['a key nothing has', { colour: ['red'] }, []],
      ['a value in other case', { module: ['ROS2'] }, []],
      ['a key with quotes and dots', { 'a."b\'.c': ['odd'] }, ['zebra two']],
      ['a key like a path', { '$.x[0]': ['path'] }, ['zebra two']],
      ['a key with a backslash', { 'back\\slash': ['yes'] }, ['zebra two']],
      ['a key of another script', { größe: ['groß'] }, ['zebra three']],
      ['a value like SQL', { module: ["' OR 1=1 --"] }, []],
    ])('filters by %s in every search mode', async (_, filter, expected) => {
      const { store } = await openStore();
      await store.write([
        doc('one', {
          module: 'ros2',
          chapter: 'Nodes',
          metadata: { author: "O'Hara" },
          chunks: ['zebra one'],
        }),
        doc('two', {
          module: 'ros2',
          chapter: 'Topics',
          title: 'Second',
          metadata: { 'a."b\'.c': 'odd', '$.x[0]': 'path', 'back\\slash': 'yes' },
          chunks: ['zebra two'],
        }),
        doc('three', { metadata: { author: "O'Hara", größe: 'groß' }, chunks: ['zebra three'] }),
      ]);
      const vector = vectorOf('zebra', DIMENSIONS);
      for (const request of [{ text: 'zebra' }, { vector }, { text: 'zebra', vector }]) {
        expect(textsOf(await find(store, { ...request, filter })).sort()).toEqual(expected.toSorted());
      }
      expect(await store.count(filter)).toBe(expected.length);
    });

    test('finds the few chunks that pass a filter among many nearer ones', async () => {
      const { store } = await openStore();
      const query = vectorOf('query', DIMENSIONS);
      const near = Array.from({ length: 400 }, (_, i) => ({
        text: `zebra zebra ${i}`,
        vector: blend(query, vectorOf(`n${i}`, DIMENSIONS), 0.1),
      }));
      await store.write([
        doc('near', { module: 'near', chunks: near }),
        doc('far', {
          module: 'far',
          chunks: [{ text: 'a zebra far off', vector: vectorOf('f', DIMENSIONS) }],
        }),
      ]);
      for (const request of [{ text: 'zebra' }, { vector: query }, { text: 'zebra', vector: query }]) {
        const hits = await find(store, { ...request, filter: { module: ['far'] } });
        expect(textsOf(hits)).toEqual(['a zebra far off']);
      }
    });

    test('returns chunks by id in the given order, without unknown ones', async () => {
      const { store } = await openStore();
      const { chunks } = doc('a', { chunks: ['one', 'two', 'three'] });
      await store.write([doc('a', { chunks: ['one', 'two', 'three'] })]);
      const [one, two, three] = chunks.map(({ chunkId }) => chunkId) as [string, string, string];
      const found = await store.chunks([three, 'unknown', one, two, one]);
      expect(found.map(({ text }) => text)).toEqual(['three', 'one', 'two', 'one']);
      expect(await store.chunks([])).toEqual([]);
    });

    test('returns neighbours in reading order, only of the same document', async () => {
      const { store } = await openStore();
      const write = doc('a', { chunks: ['one', 'two', 'three', 'four'] });
      await store.write([doc('before', { chunks: ['other'] }), write, doc('zafter', { chunks: ['other'] })]);
      const around = async (index: number, before: number, after: number) => {
        const found = await store.neighbours(write.chunks[index]?.chunkId ?? '', before, after);
        return found.map(({ text }) => text);
      };
      expect(await around(1, 1, 1)).toEqual(['one', 'two', 'three']);
      expect(await around(0, 2, 1)).toEqual(['one', 'two']);
      expect(await around(3, 1, 5)).toEqual(['three', 'four']);
      expect(await around(2, 0, 0)).toEqual(['three']);
      expect(await around(2, 99, 99)).toEqual(['one', 'two', 'three', 'four']);
      expect(await store.neighbours('unknown', 1, 1)).toEqual([]);
    });

    test('returns vectors by content hash', async () => {
      const { store } = await openStore();
      const write = doc('a', { chunks: ['one', 'two', 'one'] });
      await store.write([write]);
      const [one, two] = write.chunks;
      const hashes = [two?.contentHash ?? '', 'unknown', one?.contentHash ?? ''];
      const vectors = await store.vectors(hashes);
      expect([...vectors.keys()].sort()).toEqual([one?.contentHash, two?.contentHash].sort());
      expectClose(vectors.get(one?.contentHash ?? '')?.vector, one?.vector ?? undefined);
      expectClose(vectors.get(two?.contentHash ?? '')?.vector, two?.vector ?? undefined);
      await store.remove(['file:///book/a.md']);
      expect(await store.vectors(hashes)).toEqual(new Map());
    });

    test('finds a chunk without a vector by its words, and by its vector once it has one', async () => {
      const { store } = await openStore();
      const whole = doc('whole', { chunks: ['zebra stripes are black and white'] });
      const bare = doc('bare', { chunks: ['a zebra runs', 'walrus tusks are long'] });
      const written = { ...bare, chunks: bare.chunks.map((chunk) => ({ ...chunk, vector: null })) };
      await store.write([whole, written]);
      const query = { text: 'zebra runs', vector: vectorOf('a zebra runs', DIMENSIONS) };
      const [first, second] = await find(store, query);
      expect(first).toMatchObject({ chunk: { text: 'a zebra runs' }, dense: null });
      expect(second).toMatchObject({ chunk: { text: 'zebra stripes are black and white' } });
      expect(second?.dense).not.toBeNull();
      expect(textsOf(await find(store, { vector: query.vector }))).toEqual([
        'zebra stripes are black and white',
      ]);
      expect(await store.info()).toMatchObject({ chunks: 3, withoutVector: 2 });
      expect(await store.withoutVector()).toBe(2);
      expect(await store.check()).toEqual([]);
      expect(await store.read([bare.document.uri])).toEqual([written]);
      const waiting = await store.unembedded();
      expect(waiting).toEqual(
        bare.chunks.map(({ chunkId, contentHash, tokenCount }) => ({ chunkId, contentHash, tokenCount })),
      );
      expect(await store.vectors(waiting.map(({ contentHash }) => contentHash))).toEqual(new Map());

      const vectorsOf = (chunks: readonly ChunkRecord[]) =>
        new Map(
          chunks.map(({ contentHash, vector, words }) => [
            contentHash,
            { vector: vector ?? new Float32Array(), words },
          ]),
        );
      await store.addVectors(new Map());
      await store.addVectors(vectorsOf(bare.chunks.slice(0, 1)));
      expect(await store.info()).toMatchObject({ chunks: 3, withoutVector: 1 });
      const [found] = await find(store, { vector: query.vector });
      expect(found).toMatchObject({ chunk: { text: 'a zebra runs' } });
      expect(found?.score).toBeCloseTo(1, 4);
      await store.addVectors(vectorsOf([...whole.chunks, ...bare.chunks]));
      expect(await store.unembedded()).toEqual([]);
      await find(store, query);
      expect(await store.withoutVector()).toBe(0);
      expect(await find(store, { vector: query.vector })).toHaveLength(3);
      expect(await store.check()).toEqual([]);
    });

    test('keeps word vectors with their chunk, and adds them to chunks without them', async () => {
      const { store } = await openStore();
      const words = (seed: number): ChunkWords => ({
        text: Int8Array.from({ length: 2 * WORD_DIMENSIONS }, (_, i) => ((i % 16) - 8) * WORD_VALUE_STEP),
        path: new Int8Array(WORD_DIMENSIONS).fill(-seed * WORD_VALUE_STEP),
      });
      const full = doc('full', { chunks: ['an otter swims'] });
      const old = doc('old', { chunks: ['a heron waits', 'a newt hides'] });
      const written = { ...full, chunks: full.chunks.map((chunk) => ({ ...chunk, words: words(1) })) };
      await store.write([written, old]);
      const idsOf = (chunks: readonly ChunkRecord[]) => chunks.map(({ chunkId }) => chunkId);
      const ids = [...idsOf(full.chunks), ...idsOf(old.chunks), 'unknown'];
      expect(await store.wordVectors(ids)).toEqual(new Map([[ids[0], words(1)]]));
      expect((await store.read([full.document.uri]))[0]?.chunks[0]?.words).toEqual(words(1));
      expect(
        (await store.vectors([String(full.chunks[0]?.contentHash)])).values().next().value?.words,
      ).toEqual(words(1));
      expect(await store.unembedded()).toEqual([]);
      const waiting = await store.unembedded({ words: true });
      expect(waiting.map(({ chunkId }) => chunkId)).toEqual(idsOf(old.chunks));
      await store.addVectors(
        new Map(
          old.chunks.map(({ contentHash, vector }, index) => [
            contentHash,
            { vector: vector ?? new Float32Array(), words: words(index + 2) },
          ]),
        ),
      );
      expect(await store.wordVectors(ids)).toEqual(
        new Map([
          [ids[0], words(1)],
          [ids[1], words(2)],
          [ids[2], words(3)],
        ]),
      );
      expect(await store.unembedded({ words: true })).toEqual([]);
      expect(await find(store, { vector: vectorOf('a heron waits', DIMENSIONS) })).toHaveLength(3);
      await store.remove([old.document.uri]);
      expect([...(await store.wordVectors(ids)).keys()]).toEqual([ids[0]]);
      expect(await store.check()).toEqual([]);
    });

    test('scores words like a scan of the word vectors', async () => {
      const { store } = await openStore();
      const random = (words: number, seed: string) =>
        Int8Array.from(
          vectorOf(seed, words * WORD_DIMENSIONS),
          (value) => WORD_VALUE_STEP * Math.max(-7, Math.min(7, Math.round(50 * value))),
        );
      const sizes = [
        [3, 1],
        [2, 0],
        [0, 2],
        [0, 0],
      ] as const;
      const { document, chunks } = doc('birds', { chunks: sizes.map((size) => `chunk ${size}`) });
      const stored = chunks.map((chunk, index) => {
        const [text, path] = sizes[index] ?? [0, 0];
        return { ...chunk, words: { text: random(text, chunk.text), path: random(path, chunk.chunkId) } };
      });
      await store.write([{ document, chunks: stored }, doc('bare', { chunks: ['no words'] })]);
      expect((await store.read([document.uri]))[0]?.chunks.map(({ words }) => words)).toEqual(
        stored.map(({ words }) => words),
      );
      const query = { vectors: random(2, 'query'), weights: [2, 0.5] };
      const ids = [
        ...stored.map(({ chunkId }) => chunkId),
        String(doc('bare', { chunks: ['no words'] }).chunks[0]?.chunkId),
      ];
      const scores = await store.scoreWords?.(query, ids);
      for (const { chunkId, words } of scores === undefined ? [] : stored) {
        expect(scores?.get(chunkId)?.text).toBeCloseTo(scoreWords(query, words.text), 3);
        expect(scores?.get(chunkId)?.path).toBeCloseTo(scoreWords(query, words.path), 3);
      }
      expect(scores?.size ?? stored.length).toBe(stored.length);
      expect((await store.unembedded({ words: true })).map(({ chunkId }) => chunkId)).toEqual(ids.slice(-1));
    });

    test('replaces and removes chunks without vectors', async () => {
      const { store } = await openStore();
      const bare = (name: string, ...texts: string[]) => {
        const write = doc(name, { chunks: texts });
        return { ...write, chunks: write.chunks.map((chunk) => ({ ...chunk, vector: null })) };
      };
      await store.write([bare('a', 'one', 'two'), bare('b', 'one', 'three')]);
      await store.write([doc('a', { chunks: ['two'] })]);
      expect((await store.unembedded()).map(({ contentHash }) => contentHash)).toEqual(
        bare('b', 'one', 'three').chunks.map(({ contentHash }) => contentHash),
      );
      await store.remove(['file:///book/b.md']);
      await store.settle();
      expect(await store.unembedded()).toEqual([]);
      expect(await store.info()).toMatchObject({ documents: 1, chunks: 1, withoutVector: 0 });
      expect(await store.check()).toEqual([]);
    });

    test('reads documents with chunks and vectors in the given order', async () => {
      const { store } = await openStore();
      const writes = ['a', 'b', 'c'].map((name) =>
        doc(name, {
          module: name === 'b' ? null : 'basics',
          chapter: 'One',
          metadata: { author: name },
          chunks: [{ text: `intro of ${name}`, headings: ['Intro', 'Deeper'] }, `rest of ${name}`],
        }),
      );
      await store.write([...writes, doc('empty', { chunks: [] })]);
      const uriOf = (name: string) => `file:///book/${name}.md`;
      const read = await store.read([uriOf('c'), 'file:///nowhere', uriOf('a'), uriOf('empty')]);
      expect(read.map(({ document }) => document.uri)).toEqual([uriOf('c'), uriOf('a'), uriOf('empty')]);
      expect(read.map(({ document }) => document)).toEqual([
        writes[2]?.document,
        writes[0]?.document,
        doc('empty', { chunks: [] }).document,
      ]);
      const withoutVectors = (chunks: ChunkRecord[]) => chunks.map(({ vector, ...chunk }) => chunk);
      expect(withoutVectors(read[0]?.chunks ?? [])).toEqual(withoutVectors(writes[2]?.chunks ?? []));
      read[0]?.chunks.forEach(({ vector }, index) => {
        const written = writes[2]?.chunks[index]?.vector ?? [];
        expect(vector).toHaveLength(written.length);
        for (const [at, value] of (vector ?? new Float32Array()).entries()) {
          expect(value).toBeCloseTo(written[at] ?? Number.NaN, 4);
        }
      });
      expect(await store.read([])).toEqual([]);
    });

    test('info counts documents, chunks and chunks per module', async () => {
      const { store } = await openStore();
      const before = await store.info();
      await store.write([
        doc('a', { module: 'vla', chunks: ['one', 'two'] }),
        doc('b', { module: 'isaac', chunks: ['three'] }),
        doc('c', { chunks: ['four'] }),
      ]);
      const info = await store.info();
      expect(info).toMatchObject({
        ...IDENTITY,
        name: 'book',
        documents: 3,
        chunks: 4,
        createdAt: before.createdAt,
        modules: [
          { name: 'isaac', chunks: 1 },
          { name: 'vla', chunks: 2 },
        ],
      });
      expect(info.bytes).toBeGreaterThan(0);
      expect(new Date(info.createdAt).toISOString()).toBe(info.createdAt);
      expect(info.updatedAt >= before.updatedAt).toBe(true);
    });

    test('finds identifiers whole and by their parts', async () => {
      const { store } = await openStore();
      const texts = [
        'Call rclpy.spin_once(node) in a loop.',
        'Start a SimulationApp before you import anything else.',
        'Build with colcon build --symlink-install to save copies.',
        'The driver stops with error CUDA_ERROR_ILLEGAL_ADDRESS (0x2BC).',
        'The compiler says E0308: mismatched types.',
        'Nothing in particular is said here about simple things.',
      ];
      await store.write(texts.map((text, index) => doc(`t${index}`, { chunks: [text] })));
      const first = async (text: string) => texts.indexOf(textsOf(await find(store, { text }))[0] ?? '');
      for (const query of [
        'rclpy.spin_once',
        'rclpy.spin_once()',
        'spin once',
        'How do I use `rclpy.spin_once`?',
      ]) {
        expect(await first(query)).toBe(0);
      }
      for (const query of ['SimulationApp', 'simulationapp', 'simulation app'])
        expect(await first(query)).toBe(1);
      for (const query of ['--symlink-install', 'symlink install']) expect(await first(query)).toBe(2);
      for (const query of ['CUDA_ERROR_ILLEGAL_ADDRESS', '0x2bc']) expect(await first(query)).toBe(3);
      expect(await first('error E0308')).not.toBe(5);
      expect(await first('E0308')).toBe(4);
    });

    test.each([
      '"',
      '""" zebra',
      "zebra' OR ''='",
      'zebra AND',
      'NOT zebra',
      'zebra OR NEAR(',
      'zebra*',
      '*',
      '^zebra',
      '{title}: zebra',
      'body:zebra',
      'zebra - + ( ) : ; \\ / %',
      '%_',
      '-',
      '…—“”',
      'zebra\0zebra',
      '\u{1f993} zebra',
    ])('treats the query %j as plain text', async (text) => {
      const { store } = await openStore();
      await store.write([doc('a', { chunks: ['a zebra'] }), doc('b', { chunks: ['a walrus'] })]);
      const hits = await find(store, { text });
      expect(textsOf(hits)).toEqual(text.includes('zebra') ? ['a zebra'] : []);
    });

    test('answers a very long query', async () => {
      const { store } = await openStore();
      await store.write([doc('a', { chunks: ['a zebra'] }), doc('b', { chunks: ['a walrus'] })]);
      const words = Array.from({ length: 40_000 }, (_, index) => `word${index}`);
      expect(textsOf(await find(store, { text: `zebra ${words.join(' ')}` }))).toEqual(['a zebra']);
      expect(await find(store, { text: 'x'.repeat(1_000_000) })).toEqual([]);
    });

    test('stores and finds text of any script', async () => {
      const { store } = await openStore();
      const texts = [
        'Ein Roboter fährt über die Straße.',
        'Ρομπότ στους δρόμους της Αθήνας',
        'Робот едет по улице',
        '机器人在街上行驶',
        'ロボットが走る',
        'หุ่นยนต์วิ่งบนถนน',
        'روبوت في الشارع',
        'emoji \u{1f916}\u{1f469}‍\u{1f52c} and a \0 byte, tab\t and line\n break',
      ];
      await store.write([doc('ünïcödé 文', { title: '文', chunks: texts })]);
      expect((await store.chunks(await idsOf(store))).map(({ text }) => text)).toEqual(texts);
      for (const [query, index] of [
        ['STRASSE', -1],
        ['straße', 0],
        ['fahrt', 0],
        ['δρόμους', 1],
        ['ΔΡΟΜΟΥΣ', 1],
        ['улице', 2],
        ['机器人', 3],
        ['街上', 3],
        ['ロボット', 4],
        ['ถนน', 5],
        ['الشارع', 6],
        ['emoji', 7],
      ] as const) {
        const [best] = await find(store, { text: query });
        expect([query, texts.indexOf(best?.chunk.text ?? '')]).toEqual([query, index]);
      }
    });

    test('replacing documents again and again changes neither scores nor order', async () => {
      const { store } = await openStore();
      const request = { text: 'zebra stripes', vector: vectorOf('zebra', DIMENSIONS) };
      const scores = async () => {
        const hits = await find(store, request);
        return hits.map(({ chunk, score, lexical }) => [
          chunk.text,
          score.toFixed(4),
          lexical?.score.toFixed(4),
        ]);
      };
      await writeAnimals(store);
      await store.settle();
      const before = await scores();
      for (let round = 0; round < 5; round += 1) {
        await writeAnimals(store);
        await store.settle();
      }
      expect(await scores()).toEqual(before);
      expect(await store.check()).toEqual([]);
    });

    test('settling changes neither documents nor order', async () => {
      const { store } = await openStore();
      await writeAnimals(store);
      await store.remove(['file:///book/animal-1.md']);
      const request = { text: 'zebra are', vector: vectorOf('zebra', DIMENSIONS) };
      const before = await find(store, request);
      const documents = await documentsOf(store);
      await store.settle();
      const settled = await find(store, request);
      expect(textsOf(settled)).toEqual(textsOf(before));
      await store.settle();
      expect(await find(store, request)).toEqual(settled);
      expect(await documentsOf(store)).toEqual(documents);
      expect(await store.check()).toEqual([]);
    });
  });
}

function doc(name: string, sample: SampleDocument) {
  return sampleDocument(name, DIMENSIONS, sample);
}

async function writeAnimals(store: ChunkStore): Promise<void> {
  const texts = [
    'zebra stripes are black and white',
    'walrus tusks are long',
    'a zebra runs',
    'stripes are found on tigers',
    'owls are awake at night',
  ];
  await store.write(texts.map((text, index) => doc(`animal-${index}`, { chunks: [text] })));
}

function find(store: ChunkStore, request: Partial<StoreSearchRequest>): Promise<StoreHit[]> {
  return store.search({ text: null, vector: null, limit: 20, filter: {}, ...request });
}

function textsOf(hits: readonly StoreHit[]): string[] {
  return hits.map(({ chunk }) => chunk.text);
}

async function documentsOf(store: ChunkStore) {
  return Array.fromAsync(store.documents());
}

/** The ids of all chunks of a small collection, in reading order. */
async function idsOf(store: ChunkStore): Promise<string[]> {
  const hits = await find(store, { vector: vectorOf('any', DIMENSIONS), limit: 100 });
  return hits
    .map(({ chunk }) => chunk)
    .sort((a, b) => a.chunkIndex - b.chunkIndex)
    .map(({ chunkId }) => chunkId);
}

/** Best first, every score in 0..1, ranks in the order of scores. */
function expectOrdered(hits: readonly StoreHit[]): void {
  const fused = hits.map((hit) => hit.fusedScore);
  expect(fused).toEqual(fused.toSorted((a, b) => b - a));
  for (const half of ['lexical', 'dense'] as const) {
    const found = hits.map((hit) => hit[half]).filter((place) => place !== null);
    const byRank = found.toSorted((a, b) => a.rank - b.rank).map(({ score }) => score);
    expect(byRank).toEqual(byRank.toSorted((a, b) => b - a));
    expect(new Set(found.map(({ rank }) => rank)).size).toBe(found.length);
  }
  for (const { chunk, score, fusedScore } of hits) {
    expect(retrievedChunkSchema.safeParse({ ...chunk, score, rank: 1 }).error).toBeUndefined();
    expect(fusedScore).toBeGreaterThanOrEqual(0);
    expect(fusedScore).toBeLessThanOrEqual(1);
  }
}

function expectClose(actual: Float32Array | undefined, expected: Float32Array | undefined): void {
  expect(actual).toHaveLength(expected?.length ?? -1);
  expect(cosine(actual as Float32Array, expected as Float32Array)).toBeCloseTo(1, 5);
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}
