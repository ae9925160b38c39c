import type { ChunkStore } from '../../ports/chunk-store.ts';
import { fileIsGone } from '../../retrieval/file-is-gone.ts';
import { type Fate, type PassagePlace, whatBecame } from '../../retrieval/what-became.ts';
import { holdsPhrase } from '../metrics/answer-metrics.ts';
import type { EvaluationCase } from './evaluation-case.ts';
import { createSourceFinder, sourceSuffix } from './expected-source.ts';
import type { Pin } from './pin.ts';
import type { PinnedDocument } from './pin-gold.ts';

/** An expected source or chunk that is no longer what or where it was. */
export type StaleGold = { expected: string } & (
  | { became: 'changed' | 'vanished' | 'gone' }
  /** What the case should name instead. */
  | { became: 'moved'; to: string; url: string }
);

/** A case whose gold rests on something that is no longer what or where it was. */
export interface StaleCase {
  id: string;
  question: string;
  gold: StaleGold[];
  /** Expected phrases that what it names no longer holds; null where it expects none, or names nothing that is there. */
  missing: string[] | null;
}

type Store = Pick<ChunkStore, 'chunks' | 'withContent' | 'read'>;

interface Library {
  documents: readonly PinnedDocument[];
  /** Those that a case means by a source. */
  named: (expected: string) => readonly PinnedDocument[];
}

interface StaleOptions {
  store: Store;
  documents: readonly PinnedDocument[];
  /** The gold as it once was, by the id of the case; of one without it only can be told whether its sources are there. */
  pins: ReadonlyMap<string, readonly Pin[]>;
}

/** The cases whose expected sources or chunks have changed, moved or vanished, in their order. */
export async function staleGold(
  cases: readonly EvaluationCase[],
  { store, documents, pins }: StaleOptions,
): Promise<StaleCase[]> {
  const found: StaleCase[] = [];
  const library = { documents, named: createSourceFinder(documents) };
  for (const item of cases) {
    const own = pins.get(item.id) ?? [];
    const { expectedSources = [], expectedChunks = [] } = item;
    const gold = [
      ...expectedSources.flatMap((expected) => becomeOfSource(expected, own, library) ?? []),
      ...(await becomeOfChunks(expectedChunks, own, store)),
    ];
    if (gold.length === 0) continue;
    const missing = await missingPhrases(item, library, store);
    found.push({ id: item.id, question: item.question, gold, missing });
  }
  return found;
}

/** Whether a person has to look: what changed but still holds every expected phrase is as good as before. */
export function needsLook({ gold, missing }: StaleCase): boolean {
  return gold.some(({ became }) => became !== 'changed') || missing === null || missing.length > 0;
}

function becomeOfSource(
  expected: string,
  pins: readonly Pin[],
  { documents, named }: Library,
): StaleGold | null {
  const pinned = pins.filter((pin) => pin.expected === expected);
  const there = named(expected);
  const isGone = there.length > 0 && there.every(fileIsGone);
  if (there.length > 0 && !isGone) {
    const isSame = pinned.every((pin) => there.some(({ contentHash }) => contentHash === pin.contentHash));
    return isSame ? null : { expected, became: 'changed' };
  }
  const elsewhere = documents.find(
    (document) => pinned.some((pin) => pin.contentHash === document.contentHash) && !fileIsGone(document),
  );
  if (elsewhere === undefined) return { expected, became: isGone ? 'gone' : 'vanished' };
  return { expected, became: 'moved', to: sourceSuffix(elsewhere.url), url: elsewhere.url };
}

async function becomeOfChunks(
  expected: readonly string[],
  pins: readonly Pin[],
  store: Store,
): Promise<StaleGold[]> {
  const noted = expected.map((chunkId) => ({
    chunkId,
    contentHash: pins.find((pin) => pin.expected === chunkId)?.contentHash,
  }));
  const fates = await whatBecame(noted, store);
  return fates.flatMap((fate, index): StaleGold[] =>
    fate === null ? [] : [{ expected: expected[index] ?? '', ...inCase(fate) }],
  );
}

function inCase(fate: Fate) {
  if (fate.became !== 'moved') return fate;
  const { chunkId, url }: PassagePlace = fate.to;
  return { became: fate.became, to: chunkId, url };
}

async function missingPhrases(
  { expectedPhrases = [], expectedSources = [], expectedChunks = [] }: EvaluationCase,
  { named }: Library,
  store: Store,
): Promise<string[] | null> {
  if (expectedPhrases.length === 0) return null;
  const there = expectedSources.flatMap(named).filter((document) => !fileIsGone(document));
  const uris = new Set(there.map(({ uri }) => uri));
  const chunks = [
    ...(await store.read([...uris])).flatMap((document) => document.chunks),
    ...(expectedChunks.length === 0 ? [] : await store.chunks(expectedChunks)).filter(
      (chunk) => !fileIsGone(chunk),
    ),
  ];
  if (chunks.length === 0) return null;
  const text = chunks.map((chunk) => chunk.text).join(' ');
  return expectedPhrases.filter((phrase) => !holdsPhrase(text, phrase));
}
