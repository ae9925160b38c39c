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

test('accepts facts of the question, of a title, and of another cited chunk', async () => {
  const claim = 'Bake it at 250 degrees for 20 minutes, not for 45.';
  expect((await check(claim, ['bread'], checker, 'Why not 45 minutes?')).verdict).toBe('supported');
  expect((await check('Since 23.0, bake it at 250 degrees.', ['bread', 'docker'])).verdict).toBe('supported');
});

test('does not flag a line that introduces code', async () => {
  expect((await check('Put this into a file of your own, number 77:', ['docker'])).verdict).toBe('supported');
});
