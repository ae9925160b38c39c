import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMiniLmEmbedder } from '../../src/adapters/onnx/minilm-embedder.ts';
import { createWordChecker } from '../../src/citations/word-checker.ts';
import type { ChunkWords } from '../../src/ports/chunk-store.ts';
import type { CitationChecker } from '../../src/ports/citation-checker.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import { chunk } from '../domain/arbitraries.ts';
import { modelLocation } from '../support/model-weights.ts';
import { CHUNKS, LABELLED_PAIRS, type PairKind } from './labelled-pairs.ts';

const chunks = new Map(
  Object.entries(CHUNKS).map(([chunkId, fields]) => [chunkId, chunk({ chunkId, ...fields })]),
);
const words = createWordChecker({ store: { wordVectors: async () => new Map() }, embedder: null });
let embedder: Embedder;
let checker: CitationChecker;

beforeAll(async () => {
  embedder = await createMiniLmEmbedder({ location: modelLocation() });
  const texts = [...chunks.values()].map(({ text }) => text);
  const embedded = (await embedder.embedWords?.(texts)) ?? [];
  const vectors = new Map(
    [...chunks.keys()].map((chunkId, index): [string, ChunkWords] => [
      chunkId,
      { text: embedded[index]?.words ?? new Int8Array(), path: new Int8Array() },
    ]),
  );
  checker = createWordChecker({
    store: { wordVectors: async () => vectors },
    embedder: async () => embedder,
  });
});

afterAll(() => embedder.close());

async function check(text: string, chunkIds: string[], by = checker, question = '') {
  const cited = chunkIds.flatMap((id) => chunks.get(id) ?? []);
  const refs = chunkIds.map((_, index) => String(index + 1));
  const [result] = (await by([{ text, refs, chunks: cited }], { question })).checks;
  if (result === undefined) throw new Error('no result');
  return result;
}

const verdictsOf = (kind: PairKind, by = checker) =>
  Promise.all(
    LABELLED_PAIRS.filter((pair) => pair.kind === kind).map(
      async (pair) => (await check(pair.claim, [pair.chunk], by)).verdict,
    ),
  );

test('quotes whole sentences, supports paraphrases and flags unrelated sentences', async () => {
  for (const by of [checker, words]) {
    expect(new Set(await verdictsOf('verbatim', by))).toEqual(new Set(['quoted']));
    const paraphrases = await verdictsOf('paraphrase', by);
    expect(paraphrases.filter((verdict) => verdict === 'unsupported')).toEqual([]);
    const unrelated = await verdictsOf('unrelated', by);
    expect(unrelated.filter((verdict) => verdict === 'unsupported').length).toBeGreaterThan(
      0.6 * unrelated.length,
    );
  }
});

test('finds the sentence that a paraphrase rests on', async () => {
  const { evidence } = await check('Removing a container leaves its volume in place.', ['bread', 'docker']);
  expect(evidence).toEqual({
    chunkId: 'docker',
    start: expect.any(Number),
    end: expect.any(Number),
    text: 'A volume survives when its container is removed.',
  });
  expect(chunks.get('docker')?.text.slice(evidence?.start, evidence?.end)).toBe(evidence?.text);
});

test.each([
  ['number', 'Bake it at 260 degrees for 20 minutes with steam.'],
  ['number', 'Bake it at 250 degrees for 20 hours with steam.'],
  ['number', 'Fold the dough seven times during the first two hours.'],
  ['code', 'Use `docker volume purge` to delete volumes that no container uses.'],
  ['quote', 'Docker calls volumes "a terrible old hack from nowhere".'],
  ['name', 'In Heidelberg, volumes are the way to keep what Mozart creates.'],
  ['negation', 'A volume does not survive when its container is removed.'],
  ['dissimilar', 'Trains to the coast leave every morning from the central station.'],
])('flags a %s with its reason: %s', async (kind, claim) => {
  const source = kind === 'number' ? 'bread' : 'docker';
  const { verdict, reason } = await check(claim, [source]);
  expect([verdict, reason?.kind]).toEqual(['unsupported', kind]);
  expect(reason?.text).toContain('[1]');
});

test('flags a number with another scale', async () => {
  const source = chunk({ chunkId: 'own', text: 'The bridge cost 5 million dollars.' });
  const sentence = { text: 'The bridge cost 5 billion dollars.', refs: ['1'], chunks: [source] };
  const { checks } = await words([sentence], { question: '' });
  expect(checks[0]?.reason?.kind).toBe('number');
});

test.each([
  ['The limit is 1,000 requests.', 'The limit is 1000 requests per key.'],
  ['Up to 10k requests are kept.', 'At most 10,000 requests are kept.'],
  ['About 1.5 million people use it.', 'It is used by 1,500,000 people.'],
  ['There are four modes: fast, slow, safe and raw.', 'The modes are:\n\n- fast\n- slow\n- safe\n- raw'],
  ['Up to 25 users can connect.', 'Twenty-five users can connect.'],
  ['Two hundred users can connect.', 'Up to 200 users can connect.'],
  ['In the 20th century it grew.', 'It grew in the twentieth century.'],
  ['It needs Python 3.10 or newer.', 'Requires Python >=3.10.'],
  ['It saves 50 percent of memory.', 'It saves 50% of memory.'],
  ['The timeout is 30 seconds.', 'The timeout is 30000 ms.'],
  ['The cache keeps entries for 24 hours.', 'Entries are kept for one day.'],
  ['Files of up to 2 MB are accepted.', 'Files of up to 2048 KB are accepted.'],
  ['The robot is 1.2 m tall.', 'The robot is 120 cm tall.'],
  ['Step 3: restart the server.', 'Then restart the server.'],
  ['Section 4.2 describes how the server restarts.', 'It describes how the server restarts.'],
  ['Run `uvicorn <module>:app --reload`.', 'uvicorn main:app --reload'],
  ['Use `ros2 run my_package my_node`.', 'ros2 run <package_name> <executable_name>'],
  ['Use camelCase names such as `userName`.', 'Names are in camel case: user_name becomes userName.'],
  ['No, you need to restart the server yourself.', 'You need to restart the server yourself.'],
])('does not flag other ways to write a fact: %s', async (claim, text) => {
  const embedded = (await embedder.embedWords?.([text])) ?? [];
  const vectors = new Map([
    ['own', { text: embedded[0]?.words ?? new Int8Array(), path: new Int8Array() } satisfies ChunkWords],
  ]);
  const own = createWordChecker({
    store: { wordVectors: async () => vectors },
    embedder: async () => embedder,
  });
  const sentence = {
    text: claim,
    refs: ['1'],
    chunks: [chunk({ chunkId: 'own', title: '', headings: [], text })],
  };
  for (const by of [own, words]) {
    expect((await by([sentence], { question: '' })).checks[0]?.reason).toBeNull();
  }
});

test('accepts facts of the question, of a title, and of another cited chunk', async () => {
  const claim = 'Bake it at 250 degrees for 20 minutes, not for 45.';
  expect((await check(claim, ['bread'], checker, 'Why not 45 minutes?')).verdict).toBe('supported');
  expect((await check('Since 23.0, bake it at 250 degrees.', ['bread', 'docker'])).verdict).toBe('supported');
});

test('does not flag a line that introduces code', async () => {
  expect((await check('Put this into a file of your own, number 77:', ['docker'])).verdict).toBe('supported');
});
