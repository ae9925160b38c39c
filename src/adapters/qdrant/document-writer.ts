import { createHash } from 'node:crypto';
import { addressTaken, unusableVector } from '../../domain/collection-identity.ts';
import type { DocumentRecord, DocumentWrite } from '../../ports/chunk-store.ts';
import { scrollAll, updateVectors, upsertPoints } from './bulk-requests.ts';
import type { CollectionHead, Head, WriteLease } from './collection-head.ts';
import type { Connection } from './connection.ts';
import {
  anyOf,
  bornAfter,
  type Condition,
  chunkPoint,
  type DocumentSize,
  diedBy,
  documentPoint,
  doomedAfter,
  NEVER,
  type Point,
  pointId,
  type QdrantFilter,
  type StoredDocument,
  toStoredDocument,
  unembeddedAt,
  visibleAt,
} from './points.ts';
import { termsOf } from './sparse-terms.ts';
import { hasOutdatedWeights, reweighChunks } from './upkeep.ts';

interface DocumentWriter {
  write(writes: readonly DocumentWrite[]): Promise<void>;
  remove(uris: readonly string[]): Promise<void>;
  addVectors(vectors: ReadonlyMap<string, Float32Array>): Promise<void>;
  /** Removes what an interrupted write has left, and weighs anew what was weighed by another average length. */
  tidy(): Promise<void>;
}

/** How many chunks are looked at to find out how long they are. */
const FIRST_CHUNKS = 256;

/** How far a write has come; while it is committed only the head knows whether it is. */
type Stage = 'preparing' | 'committing' | 'committed';

interface WriterOptions {
  connection: Connection;
  head: CollectionHead;
  name: string;
  chunks: string;
  documents: string;
  dimensions: number;
}

/**
 * Writes so that a reader sees all of it or nothing: new points are born in an epoch that is not yet the
 * current one, the ones they replace are marked to die in it, and then the head is changed, which is one
 * point. What died is deleted after that. An interrupted write leaves points that nobody sees; whoever writes
 * next removes them.
 */
export function createDocumentWriter(options: WriterOptions): DocumentWriter {
  const { connection, head: heads, name, chunks, documents, dimensions } = options;
  const both = [chunks, documents];

  async function find(must: Condition[], head: Head): Promise<StoredDocument[]> {
    const points = await scrollAll(connection, {
      collection: documents,
      name,
      filter: visibleAt(head.epoch, must),
    });
    return points.map(({ payload }) => toStoredDocument(payload));
  }

  async function inBoth(work: (collection: string) => Promise<unknown>): Promise<void> {
    await Promise.all(both.map(work));
  }

  function setDeath(collection: string, filter: QdrantFilter, died: number): Promise<unknown> {
    return connection.call(name, (client) =>
      client.setPayload(collection, { payload: { died }, filter, wait: true }),
    );
  }

  function drop(collection: string, filter: QdrantFilter): Promise<unknown> {
    return connection.call(name, (client) => client.delete(collection, { filter, wait: true }));
  }

  /** As if every write that has not come to its end had never begun. */
  async function sweep(epoch: number): Promise<void> {
    await inBoth((collection) => drop(collection, { should: [bornAfter(epoch), diedBy(epoch)] }));
    await inBoth((collection) => setDeath(collection, { must: [doomedAfter(epoch)] }, NEVER));
  }

  /** Replaces `gone` by `writes`, as one change. */
  async function replace(writes: readonly DocumentWrite[], gone: readonly string[]): Promise<void> {
    const lease = await heads.acquire();
    const { head } = lease;
    let stage: Stage = 'preparing';
    try {
      if (head.dirty || head.writer !== null) await sweep(head.epoch);
      const [old] = await Promise.all([
        gone.length === 0 ? [] : find([anyOf('uri', gone)], head),
        assertAddressesFree(writes, gone, head),
      ]);
      if (writes.length > 0 || old.length > 0) {
        const added = await addPoints(writes, lease);
        const uris = old.map(({ uri }) => uri);
        if (old.length > 0) {
          await lease.renew();
          await inBoth((collection) =>
            setDeath(collection, visibleAt(head.epoch, [anyOf('uri', uris)]), lease.attempt),
          );
        }
        stage = 'committing';
        const postponed = writes.some(({ chunks: given }) => given.some(({ vector }) => vector === null));
        await lease.commit({ ...sumsOf(head, old, added), ...(postponed && { partial: true }) });
        stage = 'committed';
        if (old.length > 0) await inBoth((collection) => drop(collection, { must: [diedBy(lease.attempt)] }));
      }
      await lease.release(false);
    } catch (error) {
      if (!(await isCommitted(lease, stage))) throw error;
      // What is committed stays so; tidying up is left to the next write.
      await lease.release(true).catch(() => undefined);
    }
  }

  /** Undoes a write that failed, as far as that is possible now, unless the head tells that it took effect. */
  async function isCommitted({ writer, attempt, release }: WriteLease, stage: Stage): Promise<boolean> {
    if (stage === 'committed') return true;
    try {
      const head = await heads.read();
      if (head?.writer === writer) {
        if (head.epoch === attempt) return true;
        await sweep(head.epoch);
        await release(false);
      } else if (stage === 'preparing') {
        // Another one writes by now and has swept; what came after that would be born with its work.
        const ours = { must: [{ key: 'born', range: { gte: attempt, lte: attempt } }] };
        await inBoth((collection) => drop(collection, ours));
      }
    } catch {
      // The server is out of reach: whoever writes next does it.
    }
    return false;
  }

  /** Points are made as they are sent, so that the terms of the next are found while the server is busy. */
  async function addPoints(writes: readonly DocumentWrite[], lease: WriteLease): Promise<DocumentSize[]> {
    const { head, attempt: born, renew: beforeEach } = lease;
    const averageLength = head.chunks > 0 ? head.averageLength : firstAverage(writes);
    const sizes: DocumentSize[] = [];
    const records: Point[] = [];
    function* chunkPoints(): Generator<Point> {
      for (const { document, chunks: given } of writes) {
        const size = { chunks: given.length, length: 0, bytes: 0 };
        for (const chunk of given) {
          const terms = termsOf(document.title, chunk.headings, chunk.text);
          size.length += terms.length;
          size.bytes += Buffer.byteLength(chunk.text) + 12 * terms.length + 4 * dimensions;
          yield chunkPoint(chunk, document, { terms, averageLength, born });
        }
        sizes.push(size);
        records.push(documentPoint({ ...document, ...size }, pointId(documentKey(document), born), born));
      }
    }
    await upsertPoints(connection, { collection: chunks, name, points: chunkPoints(), beforeEach });
    await upsertPoints(connection, { collection: documents, name, points: records, beforeEach });
    return sizes;
  }

  /** Chunk ids are made of addresses: two documents of the same address would have the same. */
  async function assertAddressesFree(
    writes: readonly DocumentWrite[],
    gone: readonly string[],
    head: Head,
  ): Promise<void> {
    const owners = new Map<string, string>();
    for (const { document, chunks: given } of writes) {
      if (given.length === 0) continue;
      const owner = owners.get(document.url);
      if (owner !== undefined) throw addressTaken(document, owner);
      owners.set(document.url, document.uri);
    }
    if (owners.size === 0) return;
    const going = new Set(gone);
    for (const there of await find([anyOf('url', [...owners.keys()])], head)) {
      if (going.has(there.uri) || there.chunks === 0) continue;
      throw addressTaken({ uri: owners.get(there.url) ?? '', url: there.url }, there.uri);
    }
  }

  return {
    async write(writes) {
      for (const { chunks: given } of writes) {
        for (const { vector } of given) if (vector !== null) assertVector(vector, dimensions);
      }
      const gone = new Set(
        writes.flatMap(({ document, replaces }) => [document.uri, replaces ?? document.uri]),
      );
      // Of two versions of a document in one batch the later counts.
      const latest = new Map(writes.map((write) => [write.document.uri, write]));
      await replace([...latest.values()], [...gone]);
    },

    remove: (uris) => replace([], [...new Set(uris)]),

    // Nothing is born and nothing dies by it: a reader finds a chunk by its words, and then by its vector too.
    async addVectors(vectors) {
      for (const vector of vectors.values()) assertVector(vector, dimensions);
      const lease = await heads.acquire();
      const { head, renew: beforeEach } = lease;
      let partial = head.partial ?? false;
      try {
        const filter = unembeddedAt(head.epoch, [anyOf('contentHash', [...vectors.keys()])]);
        await updateVectors(connection, { collection: chunks, name, filter, vectors, beforeEach });
        const left = unembeddedAt(head.epoch);
        const { count } = await connection.call(name, (client) =>
          client.count(chunks, { filter: left, exact: true }),
        );
        partial = count > 0;
      } finally {
        await lease.release(head.dirty || head.writer !== null, { partial });
      }
    },

    async tidy() {
      const head = await heads.read();
      if (head === null) return;
      if (head.dirty || head.writer !== null) await replace([], []);
      const outdated = { connection, name, chunks, head };
      if (!(await hasOutdatedWeights(outdated))) return;
      const lease = await heads.acquire();
      try {
        await reweighChunks({ ...outdated, head: lease.head, beforeEach: lease.renew });
      } finally {
        await lease.release(lease.head.dirty || lease.head.writer !== null);
      }
    },
  };
}

/** The average length of the first chunks of an empty collection; what is wrong with it `tidy` puts right. */
function firstAverage(writes: readonly DocumentWrite[]): number {
  const lengths = writes
    .flatMap(({ document, chunks }) => chunks.map((chunk) => ({ chunk, title: document.title })))
    .slice(0, FIRST_CHUNKS)
    .map(({ chunk, title }) => termsOf(title, chunk.headings, chunk.text).length);
  return lengths.length === 0 ? 1 : lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
}

/** What there is of everything after a write. */
function sumsOf(head: Head, old: readonly DocumentSize[], added: readonly DocumentSize[]): Partial<Head> {
  const after = (key: keyof DocumentSize) =>
    head[key] + added.reduce((sum, size) => sum + size[key], -old.reduce((sum, size) => sum + size[key], 0));
  const [chunks, length] = [after('chunks'), after('length')];
  const grows = added.some((size) => size.chunks > 0);
  return {
    documents: head.documents + added.length - old.length,
    chunks,
    length,
    bytes: after('bytes'),
    averageLength: grows ? length / chunks : head.averageLength,
  };
}

function assertVector(vector: Float32Array, dimensions: number): void {
  if (vector.length === dimensions && vector.every(Number.isFinite)) return;
  throw unusableVector(dimensions);
}

/** Names a document by its address and its path below the root: not by where the root lies, so that tapes travel. */
function documentKey({ url, uri, root }: DocumentRecord): string {
  const way = uri.startsWith(root) ? uri.slice(root.length) : uri;
  return createHash('sha256').update(`${url}\n${way}`).digest('hex');
}
