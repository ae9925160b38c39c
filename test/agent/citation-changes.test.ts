import { expect, onTestFinished, test } from 'vitest';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { findCitationChanges, staleSourceNotices } from '../../src/agent/citation-changes.ts';
import { createUnknownCitation, toCitableSource, toCitation } from '../../src/domain/citation.ts';
import type { ConversationSession } from '../../src/domain/conversation-session.ts';
import type { ConversationTurn } from '../../src/domain/conversation-turn.ts';
import type { RetrievedChunk } from '../../src/domain/retrieved-chunk.ts';
import type { ChunkStore } from '../../src/ports/chunk-store.ts';
import { sampleDocument } from '../contracts/sample-documents.ts';
import { sampleSession, sampleTurn } from '../contracts/sample-sessions.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

const DIMENSIONS = 8;

async function openStore(): Promise<ChunkStore> {
  const identity = { embedder: 'test:eight', dimensions: DIMENSIONS };
  const store = await createSqliteCatalog(await createTemporaryDirectory()).openOrCreate('book', identity);
  onTestFinished(() => store.close());
  return store;
}

/** Writes a document of one chunk and returns the chunk as a search would. */
async function written(store: ChunkStore, name: string, text: string): Promise<RetrievedChunk> {
  const write = sampleDocument(name, DIMENSIONS, { chunks: [text] });
  await store.write([write]);
  const [chunk] = await store.chunks(write.chunks.map(({ chunkId }) => chunkId));
  return { ...(chunk as RetrievedChunk), score: 0.8 };
}

/** Turns of one session with their retrieved and cited chunks. */
function conversation(...parts: { found: RetrievedChunk[]; cites: RetrievedChunk[] }[]): ConversationTurn[] {
  let session: ConversationSession = sampleSession();
  return parts.map(({ found, cites }) => {
    const citations = cites.map((chunk, index) =>
      toCitation(toCitableSource(chunk, String(index + 1)), 'supported'),
    );
    const next = sampleTurn(session, { chunks: found, citations });
    session = next.session;
    return next.turn;
  });
}

test('reports changed and removed citations, not unchanged ones', async () => {
  const store = await openStore();
  const [kept, changed, removed] = [
    await written(store, 'kept', 'Owls hunt at night.'),
    await written(store, 'changed', 'Robins sing.'),
    await written(store, 'removed', 'Dodos walk.'),
  ];
  const found = [kept, changed, removed];
  const turns = conversation({ found, cites: found });
  expect(await findCitationChanges(turns, store)).toEqual([new Map()]);
  await written(store, 'changed', 'Robins sing in spring.');
  await store.remove(['file:///book/removed.md']);
  expect(await findCitationChanges(turns, store)).toEqual([
    new Map([
      [changed.chunkId, { change: 'changed' }],
      [removed.chunkId, { change: 'removed' }],
    ]),
  ]);
  expect(await staleSourceNotices(turns, store)).toEqual([
    `Sources of earlier answers have changed or were removed: ${changed.title}, ${removed.title}.`,
  ]);
});

test('reports a passage that is now in another chunk as moved', async () => {
  const store = await openStore();
  const [shifted, renamed] = [
    await written(store, 'shifted', 'Owls hunt at night.'),
    await written(store, 'renamed', 'Robins sing.'),
  ];
  const turns = conversation({ found: [shifted, renamed], cites: [shifted, renamed] });
  const grown = sampleDocument('shifted', DIMENSIONS, { chunks: ['New above.', 'Owls hunt at night.'] });
  await store.write([grown]);
  await store.remove(['file:///book/renamed.md']);
  const again = await written(store, 'other-name', 'Robins sing.');
  expect(await findCitationChanges(turns, store)).toEqual([
    new Map([
      [
        shifted.chunkId,
        { change: 'moved', to: { chunkId: grown.chunks[1]?.chunkId, url: grown.document.url } },
      ],
      [renamed.chunkId, { change: 'moved', to: { chunkId: again.chunkId, url: again.url } }],
    ]),
  ]);
  expect(await staleSourceNotices(turns, store)).toEqual([]);
});

test('ignores uncited chunks and unknown sources', async () => {
  const store = await openStore();
  const [cited, other] = [await written(store, 'cited', 'Owls.'), await written(store, 'other', 'Dodos.')];
  const [turn] = conversation({ found: [cited, other], cites: [cited] });
  await store.remove(['file:///book/other.md']);
  const turns = turn === undefined ? [] : [turn];
  turns[0]?.response.citations.push(createUnknownCitation('9'));
  expect(await findCitationChanges(turns, store)).toEqual([new Map()]);
  expect(await findCitationChanges([], store)).toEqual([]);
});

test('compares a citation with the retrieval of an earlier turn', async () => {
  const store = await openStore();
  const owl = await written(store, 'owl', 'Owls hunt at night.');
  const turns = conversation({ found: [owl], cites: [] }, { found: [], cites: [owl] });
  await written(store, 'owl', 'Owls sleep at night.');
  expect(await findCitationChanges(turns, store)).toEqual([
    new Map(),
    new Map([[owl.chunkId, { change: 'changed' }]]),
  ]);
});

test('a later turn that cites the current text is not stale', async () => {
  const store = await openStore();
  const before = await written(store, 'owl', 'Owls hunt at night.');
  const after = await written(store, 'owl', 'Owls sleep at night.');
  expect(after.chunkId).toBe(before.chunkId);
  const turns = conversation({ found: [before], cites: [before] }, { found: [after], cites: [after] });
  expect(await findCitationChanges(turns, store)).toEqual([
    new Map([[before.chunkId, { change: 'changed' }]]),
    new Map(),
  ]);
});
