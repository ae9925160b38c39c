import * as z from 'zod';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';

const NEIGHBOURS = 2;

export const READ_SOURCE = 'read_source';

export const readSourceArgumentsSchema = z.object({
  ref: z.string().trim().min(1).describe('The ref of a search result.'),
});

export const readSourceJsonSchema = {
  type: 'object',
  properties: { ref: { type: 'string', description: readSourceArgumentsSchema.shape.ref.description } },
  required: ['ref'],
  additionalProperties: false,
} as const;

export const readSourceDescription =
  'Read what stands around a search result in its document. Each passage has a ref of its own to cite.';

export interface ReadSourceResponse {
  results: { ref: string; text: string; title: string; url: string }[];
  error: string | null;
}

interface Sources {
  chunkOf(ref: string): RetrievedChunk | undefined;
  register(chunk: RetrievedChunk): string;
}

/** The neighbourhood of a hit, as JSON for the model. What goes wrong is a result that it can act on. */
export async function readSource(
  args: unknown,
  store: Pick<ChunkStore, 'neighbours'>,
  sources: Sources,
): Promise<ReadSourceResponse> {
  const parsed = readSourceArgumentsSchema.safeParse(args);
  const ref = parsed.data?.ref.replace(/^\[|\]$/g, '') ?? '';
  const hit = sources.chunkOf(ref);
  if (hit === undefined) {
    const error = parsed.success
      ? `There is no search result with the ref ${ref}.`
      : 'Give the ref of a search result.';
    return { results: [], error };
  }
  const chunks = await store.neighbours(hit.chunkId, NEIGHBOURS, NEIGHBOURS);
  const results = chunks.map((chunk) => ({
    ref: sources.register({ ...chunk, score: hit.score }),
    text: chunk.text,
    title: chunk.title,
    url: chunk.url,
  }));
  return { results, error: null };
}
