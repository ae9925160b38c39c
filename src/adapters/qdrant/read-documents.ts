import type { Schemas } from '@qdrant/js-client-rest';
import type { DocumentWrite, EmbeddedChunk } from '../../ports/chunk-store.ts';
import { denseVector, toChunk, toDocument } from './point-payload.ts';

/** Documents put together again from their own points and those of their chunks, in the order of the URIs. */
export function toDocuments(
  uris: readonly string[],
  heads: readonly Schemas['Record'][],
  bodies: readonly Schemas['Record'][],
): DocumentWrite[] {
  const documents = new Map(heads.map(({ payload }) => [String(payload?.uri), toDocument(payload)]));
  const chunks = Map.groupBy(bodies, ({ payload }) => String(payload?.uri));
  return uris.flatMap((uri) => {
    const document = documents.get(uri);
    if (document === undefined) return [];
    const own = (chunks.get(uri) ?? []).map(toEmbedded).sort((a, b) => a.chunkIndex - b.chunkIndex);
    return [{ document, chunks: own }];
  });
}

function toEmbedded({ payload, vector }: Schemas['Record']): EmbeddedChunk {
  const { chunkId, chunkIndex, text, headings, tokenCount, contentHash } = toChunk(payload);
  const start = Number(payload?.start ?? 0);
  const kept = { chunkId, chunkIndex, text, start, headings, tokenCount, contentHash };
  return { ...kept, vector: denseVector(vector) };
}
