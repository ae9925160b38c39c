import { createHash } from 'node:crypto';
import type { ChunkStore, DocumentRecord } from '../../ports/chunk-store.ts';
import { conversationOf, type EvaluationCase } from './evaluation-case.ts';
import { createSourceFinder } from './expected-source.ts';
import type { Pin } from './pin.ts';

export type PinnedDocument = Pick<DocumentRecord, 'uri' | 'url' | 'contentHash'>;

/** The expected documents and chunks of every case as they stand now, by its id; what is not there has no pin. */
export async function pinGold(
  cases: readonly EvaluationCase[],
  store: Pick<ChunkStore, 'chunks'>,
  documents: readonly PinnedDocument[],
): Promise<Map<string, Pin[]>> {
  const ids = [...new Set(cases.flatMap(({ expectedChunks = [] }) => expectedChunks))];
  const found = ids.length === 0 ? [] : await store.chunks(ids);
  const chunks = new Map(found.map((chunk) => [chunk.chunkId, chunk]));
  const named = createSourceFinder(documents);
  return new Map(
    cases.map(({ id, expectedSources = [], expectedChunks = [] }) => [
      id,
      [
        ...expectedSources.flatMap((expected) =>
          named(expected).map(({ url, contentHash }) => ({ expected, url, contentHash })),
        ),
        ...expectedChunks.flatMap((expected): Pin[] => {
          const chunk = chunks.get(expected);
          return chunk === undefined ? [] : [{ expected, url: chunk.url, contentHash: chunk.contentHash }];
        }),
      ],
    ]),
  );
}

/** Tells whether two cases ask the same and expect the same, whatever else is different about them. */
export function goldKey(item: EvaluationCase): string {
  const { question, expectedSources, expectedChunks, expectedPhrases, expectedAnswer } = item;
  const gold = [
    conversationOf(item),
    question,
    expectedSources,
    expectedChunks,
    expectedPhrases,
    expectedAnswer,
  ];
  return createHash('sha256').update(JSON.stringify(gold)).digest('hex').slice(0, 32);
}
