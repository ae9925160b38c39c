import { QdrantClient } from '@qdrant/js-client-rest';
import { createQdrantCollections } from '../../src/adapters/qdrant/collection-schema.ts';
import { BATCH_POINTS } from '../../src/adapters/qdrant/point-requests.ts';
import { createQdrantCatalog } from '../../src/adapters/qdrant/qdrant-catalog.ts';
import { createQdrantConnection } from '../../src/adapters/qdrant/qdrant-connection.ts';
import { documentVersion, type QdrantPoint, toChunkPoint } from '../../src/adapters/qdrant/qdrant-points.ts';
import { extractChunkTerms } from '../../src/adapters/qdrant/sparse-terms.ts';
import type { DocumentWrite } from '../../src/ports/chunk-store.ts';
import { measureInterleaved, measureMs, median, medianRatio } from '../support/measure.ts';
import { withQdrant } from '../support/qdrant.ts';
import { type BenchmarkRow, createRow } from '../support/results.ts';
import { createSyntheticDocuments, SYNTHETIC_IDENTITY } from '../support/synthetic.ts';

const CHUNKS = 4000;
const ROUNDS = 3;
/** The number of chunks that an ingest writes at once. */
const WINDOW_CHUNKS = 256;
const LARGE_BATCH = 256;

/**
 * Compares writing documents with given vectors through the adapter with sending the same points through the client
 * alone, in batches of the same size and in large ones. All wait for every batch. The variants alternate by window, so
 * that other load affects them equally.
 */
export function benchQdrantUpsert(): Promise<BenchmarkRow[]> {
  return withQdrant(async ({ url }) => {
    const { documents } = await createSyntheticDocuments(CHUNKS, 0);
    const windows = [...groupWrites(documents())];
    const points = windows.map(pointsOf);
    const rates: Record<'ours' | 'same' | 'large', number[]> = { ours: [], same: [], large: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      const store = await createQdrantCatalog({ url }).openOrCreate(`ours_${round}`, SYNTHETIC_IDENTITY);
      const same = await createPlainCollection(url, `same_${round}`);
      const large = await createPlainCollection(url, `large_${round}`);
      const times = await measureInterleaved(windows.length, {
        ours: (index) => measureMs(() => store.write(windows[index] ?? [])),
        same: (index) => measureMs(() => same(points[index] ?? [], BATCH_POINTS)),
        large: (index) => measureMs(() => large(points[index] ?? [], LARGE_BATCH)),
      });
      for (const name of ['ours', 'same', 'large'] as const) {
        // The first window is a warm-up.
        rates[name].push(
          ...times[name]
            .map((ms, index) => (points[index] ?? []).length / (ms / 1000))
            .slice(round === 0 ? 1 : 0),
        );
      }
      await store.close();
    }
    return [
      createRow(`qdrant: the client alone, batches of ${BATCH_POINTS}`, median(rates.same), 'chunks/s'),
      createRow('qdrant: the adapter, compared with the client alone', median(rates.ours), 'chunks/s', {
        ratio: medianRatio(rates.ours, rates.same),
        target: { of: 'ratio', atLeast: 0.8 },
      }),
      createRow(
        `qdrant: the client alone, batches of ${LARGE_BATCH}; ratio of the adapter`,
        median(rates.large),
        'chunks/s',
        {
          ratio: medianRatio(rates.ours, rates.large),
        },
      ),
    ];
  });
}

/** Creates a collection with the same vectors and indexes, and returns a function that upserts through the client. */
async function createPlainCollection(url: string, collection: string) {
  await createQdrantCollections(
    createQdrantConnection({ url }),
    collection,
    { ...SYNTHETIC_IDENTITY, createdAt: '' },
    {},
  );
  const client = new QdrantClient({ url, checkCompatibility: false });
  return async (points: readonly QdrantPoint[], batch: number) => {
    for (let start = 0; start < points.length; start += batch) {
      await client.upsert(collection, { points: points.slice(start, start + batch), wait: true });
    }
  };
}

/** The points that the adapter would write, prepared before the measurement. */
function pointsOf(writes: readonly DocumentWrite[]): QdrantPoint[] {
  return writes.flatMap((write) =>
    write.chunks.map((chunk) =>
      toChunkPoint(chunk, write.document, {
        terms: extractChunkTerms(write.document.title, chunk.headings, chunk.text),
        version: documentVersion(write),
        writtenAt: 0,
      }),
    ),
  );
}

export function* groupWrites(writes: Iterable<DocumentWrite>): Generator<DocumentWrite[]> {
  let window: DocumentWrite[] = [];
  let chunks = 0;
  for (const write of writes) {
    window.push(write);
    chunks += write.chunks.length;
    if (chunks < WINDOW_CHUNKS) continue;
    yield window;
    window = [];
    chunks = 0;
  }
  if (window.length > 0) yield window;
}
