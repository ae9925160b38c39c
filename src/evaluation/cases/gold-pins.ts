import { createHash } from 'node:crypto';
import type { ChunkStore, DocumentRecord } from '../../ports/chunk-store.ts';
import { conversationKey, type EvaluationCase, type GoldPin } from './evaluation-case.ts';
import { createSourceFinder } from './expected-source.ts';

/** Pins by the id of the case. */
export type GoldPins = ReadonlyMap<string, readonly GoldPin[]>;

export type PinnedDocument = Pick<DocumentRecord, 'uri' | 'url' | 'contentHash'>;

/** Pins the expected documents and chunks of every case as the store holds them now. Missing ones get no pin. */
export async function pinGold(
  cases: readonly EvaluationCase[],
  store: Pick<ChunkStore, 'chunks'>,
  documents: readonly PinnedDocument[],
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
export function goldKey(item: EvaluationCase): string {
  const { question, expectedSources, expectedChunks, expectedPhrases, expectedAnswer } = item;
  const conversation = conversationKey(item);
  const gold = [conversation, question, expectedSources, expectedChunks, expectedPhrases, expectedAnswer];
  return createHash('sha256').update(JSON.stringify(gold)).digest('hex').slice(0, 32);
}
