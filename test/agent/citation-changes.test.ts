import { expect, onTestFinished, test } from 'vitest';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { findChangedSources } from '../../src/agent/citation-changes.ts';
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

test('names changed and removed citations, not unchanged or uncited ones', async () => {
  const store = await openStore();
  const [kept, changed, removed, uncited] = [
    await written(store, 'kept', 'Owls hunt at night.'),
    await written(store, 'changed', 'Robins sing.'),
    await written(store, 'removed', 'Dodos walk.'),
    await written(store, 'uncited', 'Swifts fly.'),
  ];
  const turns = conversation({
    found: [kept, changed, removed, uncited],
    cites: [kept, changed, removed],
  });
  turns[0]?.response.citations.push(createUnknownCitation('9'));
  expect(await findChangedSources(turns, store)).toEqual([]);
  await written(store, 'changed', 'Robins sing in spring.');
  await store.remove(['file:///book/removed.md', 'file:///book/uncited.md']);
  const [notice] = await findChangedSources(turns, store);
  expect(notice).toContain(`: ${changed.title}, ${removed.title}.`);
});

test('compares a citation with the retrieval of an earlier turn', async () => {
  const store = await openStore();
  const owl = await written(store, 'owl', 'Owls hunt at night.');
  const turns = conversation({ found: [owl], cites: [] }, { found: [], cites: [owl] });
  await written(store, 'owl', 'Owls sleep at night.');
  expect(await findChangedSources(turns, store)).toHaveLength(1);
});
