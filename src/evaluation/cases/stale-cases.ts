import type { ChunkStore, DocumentRecord } from '../../ports/chunk-store.ts';
import { type ChunkChange, findChunkChanges, isFileDeleted } from '../../retrieval/chunk-changes.ts';
import { containsPhrase } from '../metrics/answer-metrics.ts';
import type { EvaluationCase, GoldPin } from './evaluation-case.ts';
import { createSourceFinder, toExpectedSource } from './expected-source.ts';

/** Pins by the id of the case. */
export type GoldPins = ReadonlyMap<string, readonly GoldPin[]>;

type HashedDocument = Pick<DocumentRecord, 'uri' | 'url' | 'contentHash'>;

/** Pins the expected documents and chunks of every case as the store has them now. Missing ones get no pin. */
export async function pinGold(
  cases: readonly EvaluationCase[],
  store: Pick<ChunkStore, 'chunks'>,
  documents: readonly HashedDocument[],
): Promise<GoldPins> {
  const findSources = createSourceFinder(documents);
  const chunks = await store.chunks([...new Set(cases.flatMap((item) => item.expectedChunks ?? []))]);
  return new Map(
    cases.map(({ id, expectedSources = [], expectedChunks = [] }) => [
      id,
      [
        ...expectedSources.flatMap((expected) =>
          findSources(expected).map(({ contentHash }) => ({ expected, contentHash })),
        ),
        ...chunks
          .filter(({ chunkId }) => expectedChunks.includes(chunkId))
          .map(({ chunkId, contentHash }) => ({ expected: chunkId, contentHash })),
      ],
    ]),
  );
}

/** An expected source or chunk that changed. `to` is what the case should name instead. */
type StaleGold = { expected: string } & (
  | Exclude<ChunkChange, { became: 'moved' }>
  | { became: 'moved'; to: string; url: string }
);

export interface StaleCase {
  id: string;
  question: string;
  gold: StaleGold[];
  /** Expected phrases that its sources do not contain; null if it expects none or no source is left. */
  missing: string[] | null;
}

interface StaleOptions {
  store: Pick<ChunkStore, 'chunks' | 'withContent' | 'read'>;
  documents: readonly HashedDocument[];
  /** For a case without pins, only the existence of its sources is checked. */
  pins: GoldPins;
}

/** The cases whose expected sources or chunks changed, moved or vanished, in their order. */
export async function findStaleCases(
  cases: readonly EvaluationCase[],
  { store, documents, pins }: StaleOptions,
): Promise<StaleCase[]> {
  const findSources = createSourceFinder(documents);
  const stale: StaleCase[] = [];
  for (const item of cases) {
    const { id, question, expectedSources = [], expectedChunks = [], expectedPhrases = [] } = item;
    const hashesOf = (expected: string) =>
      (pins.get(id) ?? []).flatMap((pin) => (pin.expected === expected ? [pin.contentHash] : []));
    const pinned = expectedChunks.map((chunkId) => ({ chunkId, contentHash: hashesOf(chunkId)[0] }));
    const changes = await findChunkChanges(pinned, store);
    const gold = [
      ...expectedSources.flatMap(
        (expected) => checkSource(expected, hashesOf(expected), findSources(expected), documents) ?? [],
      ),
      ...expectedChunks.flatMap((expected, index): StaleGold[] => {
        const change = changes[index] ?? null;
        if (change === null) return [];
        if (change.became !== 'moved') return [{ expected, ...change }];
        return [{ expected, became: 'moved', to: change.to.chunkId, url: change.to.url }];
      }),
    ];
    if (gold.length === 0) continue;
    const sources = expectedSources.flatMap(findSources).filter((document) => !isFileDeleted(document));
    const read = await store.read([...new Set(sources.map(({ uri }) => uri))]);
    const chunks = (await store.chunks(expectedChunks)).filter((chunk) => !isFileDeleted(chunk));
    const text = [...read.flatMap((document) => document.chunks), ...chunks].map((one) => one.text).join(' ');
    const isKnown = text !== '' && expectedPhrases.length > 0;
    const missing = isKnown ? expectedPhrases.filter((phrase) => !containsPhrase(text, phrase)) : null;
    stale.push({ id, question, gold, missing });
  }
  return stale;
}

/** A changed source that still contains every expected phrase needs no review. */
export function needsReview({ gold, missing }: StaleCase): boolean {
  return gold.some(({ became }) => became !== 'changed') || missing === null || missing.length > 0;
}

function checkSource(
  expected: string,
  hashes: readonly string[],
  found: readonly HashedDocument[],
  documents: readonly HashedDocument[],
): StaleGold | null {
  if (found.some((document) => !isFileDeleted(document))) {
    const isSame = hashes.every((hash) => found.some(({ contentHash }) => contentHash === hash));
    return isSame ? null : { expected, became: 'changed' };
  }
  const moved = documents.find(
    (document) => hashes.includes(document.contentHash) && !isFileDeleted(document),
  );
  if (moved === undefined) return { expected, became: found.length > 0 ? 'gone' : 'vanished' };
  return { expected, became: 'moved', to: toExpectedSource(moved.url), url: moved.url };
}
