import * as z from 'zod';
import { estimateTokens } from '../../domain/estimate-tokens.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { readFields } from '../wire/read-fields.ts';
import { RequestFault } from '../wire/request-fault.ts';

const MAX_TEXTS = 2048;
const text = z.string().min(1, 'a text must not be empty');

const embeddingsRequestSchema = z.looseObject({
  model: z.string().min(1),
  input: z.union([text, z.array(text).min(1).max(MAX_TEXTS)], {
    error: `must be a text, or a list of 1 to ${MAX_TEXTS} texts that are not empty`,
  }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
});

/** What `POST /v1/embeddings` gives back. Throws a RequestFault. */
export async function embeddingsOf(
  body: unknown,
  embedder: Embedder,
  checkModel: (model: string) => void,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const request = readFields(embeddingsRequestSchema, body);
  checkModel(request.model);
  if (request.dimensions != null && request.dimensions !== embedder.dimensions) {
    throw new RequestFault(400, `dimensions must be ${embedder.dimensions}.`, {
      code: 'invalid_value',
      param: 'dimensions',
    });
  }
  const texts = [request.input].flat();
  const vectors: Float32Array[] = [];
  for (let at = 0; at < texts.length; at += embedder.batchSize) {
    vectors.push(...(await embedder.embedDocuments(texts.slice(at, at + embedder.batchSize), signal)));
  }
  const tokens = texts.reduce((sum, part) => sum + estimateTokens(part), 0);
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: request.encoding_format === 'base64' ? base64(vector) : [...vector],
    })),
    model: request.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** 32-bit numbers, little endian, as all machines that Node runs on keep them. */
function base64(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}
