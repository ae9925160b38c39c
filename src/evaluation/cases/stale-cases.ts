import { createHash } from 'node:crypto';
import type { ChunkStore, DocumentRecord } from '../../ports/chunk-store.ts';
import { fileIsGone, whatBecame } from '../../retrieval/chunk-changes.ts';
import { containsPhrase } from '../metrics/answer-metrics.ts';
import { type EvaluationCase, type GoldPin, toConversationKey } from './evaluation-case.ts';
import { createSourceFinder, toExpectedSource } from './expected-source.ts';

/** Pins by the id of the case. */
export type GoldPins = ReadonlyMap<string, readonly GoldPin[]>;

export type HashedDocument = Pick<DocumentRecord, 'uri' | 'url' | 'contentHash'>;

/** Pins the expected documents and chunks of every case as the store holds them now. Missing ones get no pin. */
export async function pinGold(
  cases: readonly EvaluationCase[],
  store: Pick<ChunkStore, 'chunks'>,
  documents: readonly HashedDocument[],
): Promise<GoldPins> {
  const chunkIds = [...new Set(cases.flatMap(({ expectedChunks = [] }) => expectedChunks))];
  const found = chunkIds.length === 0 ? [] : await store.chunks(chunkIds);
  const chunks = new Map(found.map((chunk) => [chunk.chunkId, chunk]));
  const findSources = createSourceFinder(documents);
  return new Map(
    cases.map(({ id, expectedSources = [], expectedChunks = [] }) => [
      id,
      [
        ...expectedSources.flatMap((expected) =>
          findSources(expected).map(({ url, contentHash }) => ({ expected, url, contentHash })),
        ),
        ...expectedChunks.flatMap((expected): GoldPin[] => {
          const chunk = chunks.get(expected);
          return chunk === undefined ? [] : [{ expected, url: chunk.url, contentHash: chunk.contentHash }];
        }),
      ],
    ]),
  );
}

/** Equal for cases with the same question and the same gold, whatever their ids. */
export function toGoldKey(item: EvaluationCase): string {
  const { question, expectedSources, expectedChunks, expectedPhrases, expectedAnswer } = item;
  const conversation = toConversationKey(item);
  const gold = [conversation, question, expectedSources, expectedChunks, expectedPhrases, expectedAnswer];
  return createHash('sha256').update(JSON.stringify(gold)).digest('hex').slice(0, 32);
}

/** An expected source or chunk whose content or place changed. */
export type StaleGold = { expected: string } & (
  | { became: 'changed' | 'vanished' | 'gone' }
  /** `to` is what the case should name instead. */
  | { became: 'moved'; to: string; url: string }
);

export interface StaleCase {
  id: string;
  question: string;
  gold: StaleGold[];
  /** Expected phrases that its sources no longer contain; null if it expects none or no source is left. */
  missing: string[] | null;
}

interface StaleOptions {
  store: Pick<ChunkStore, 'chunks' | 'withContent' | 'read'>;
  documents: readonly HashedDocument[];
  /** Earlier content of the gold. For a case without pins only the existence of its sources is checked. */
  pins: GoldPins;
}

/** The cases whose expected sources or chunks changed, moved or vanished, in their order. */
export async function findStaleCases(
  cases: readonly EvaluationCase[],
  { store, documents, pins }: StaleOptions,
): Promise<StaleCase[]> {
  const stale: StaleCase[] = [];
  const findSources = createSourceFinder(documents);
  for (const item of cases) {
    const { id, question, expectedSources = [], expectedChunks = [], expectedPhrases = [] } = item;
    const ownPins = pins.get(id) ?? [];
    const gold = [
      ...expectedSources.flatMap((expected) => {
        const pinned = ownPins.filter((pin) => pin.expected === expected);
        return checkSource(expected, pinned, findSources(expected), documents) ?? [];
      }),
      ...(await checkChunks(expectedChunks, ownPins, store)),
    ];
    if (gold.length === 0) continue;
    const sources = expectedSources.flatMap(findSources).filter((document) => !fileIsGone(document));
    const text = await readText(sources, expectedChunks, store);
    const missing =
      text === '' || expectedPhrases.length === 0
        ? null
        : expectedPhrases.filter((phrase) => !containsPhrase(text, phrase));
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
  pinned: readonly GoldPin[],
  found: readonly HashedDocument[],
  documents: readonly HashedDocument[],
): StaleGold | null {
  const isFileGone = found.length > 0 && found.every(fileIsGone);
  if (found.length > 0 && !isFileGone) {
    const isSame = pinned.every((pin) => found.some(({ contentHash }) => contentHash === pin.contentHash));
    return isSame ? null : { expected, became: 'changed' };
  }
  const moved = documents.find(
    (document) => pinned.some((pin) => pin.contentHash === document.contentHash) && !fileIsGone(document),
  );
  if (moved === undefined) return { expected, became: isFileGone ? 'gone' : 'vanished' };
  return { expected, became: 'moved', to: toExpectedSource(moved.url), url: moved.url };
}

async function checkChunks(
  expectedChunks: readonly string[],
  pins: readonly GoldPin[],
  store: StaleOptions['store'],
): Promise<StaleGold[]> {
  const pinned = expectedChunks.map((chunkId) => ({
    chunkId,
    contentHash: pins.find(({ expected }) => expected === chunkId)?.contentHash,
  }));
  const changes = await whatBecame(pinned, store);
  return changes.flatMap((change, index): StaleGold[] => {
    const expected = expectedChunks[index] ?? '';
    if (change === null) return [];
    if (change.became !== 'moved') return [{ expected, ...change }];
    return [{ expected, became: 'moved', to: change.to.chunkId, url: change.to.url }];
  });
}

async function readText(
  sources: readonly HashedDocument[],
  chunkIds: readonly string[],
  store: StaleOptions['store'],
): Promise<string> {
  const documents = await store.read([...new Set(sources.map(({ uri }) => uri))]);
  const chunks = chunkIds.length === 0 ? [] : await store.chunks(chunkIds);
  return [
    ...documents.flatMap((document) => document.chunks),
    ...chunks.filter((chunk) => !fileIsGone(chunk)),
  ]
    .map(({ text }) => text)
    .join(' ');
}
