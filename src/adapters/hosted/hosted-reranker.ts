import * as z from 'zod';
import { toScore } from '../../domain/retrieved-chunk.ts';
import type { RetryOptions } from '../../faults/retry.ts';
import type { RankedDocument, Reranker } from '../../ports/reranker.ts';
import {
  assertValidAccess,
  type HostedService,
  postJson,
  retryRequest,
  toSendableText,
  unusableAnswer,
} from './json-service.ts';

/** Not measured: services of this kind document relevant passages well above it and unrelated ones below. */
const SCORE_THRESHOLD = 0.3;

const rankedSchema = z.object({
  index: z.int().min(0),
  relevance_score: z.number().optional(),
  score: z.number().optional(),
});
/** Jina and Cohere answer with `results`, Voyage with `data`, text-embeddings-inference with the list itself. */
const answerSchema = z.union([
  z.object({ results: z.array(rankedSchema) }).transform(({ results }) => results),
  z.object({ data: z.array(rankedSchema) }).transform(({ data }) => data),
  z.array(rankedSchema),
]);

export interface HostedRerankerOptions extends RetryOptions, Omit<HostedService, 'name' | 'keyVariable'> {
  /** The request goes to `<baseUrl>/rerank`. */
  baseUrl: string;
}

/** Reranking by a service with a `/rerank` endpoint like that of Jina or Voyage. */
export function createHostedReranker({ baseUrl, ...options }: HostedRerankerOptions): Reranker {
  const url = `${baseUrl.replace(/\/+$/, '')}/rerank`;
  const name = `The rerank service at ${URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl}`;
  const service = { ...options, name, keyVariable: 'RERANK_API_KEY' };
  assertValidAccess(service, baseUrl);
  const headers: Record<string, string> =
    options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` };
  return {
    id: `rerank:${options.model}`,
    scoreThreshold: SCORE_THRESHOLD,
    async rerank(query, documents, topN, signal) {
      const retry = { ...options, signal };
      // Services disagree about the name of the limit, and return all documents without one.
      return requestRanking({ query, documents, topN }, service, retry, async ({ topN: _, ...texts }) => {
        const body = { model: options.model, ...texts };
        const answer = answerSchema.safeParse(await postJson({ url, headers, body, signal }, service));
        if (!answer.success) throw unusableAnswer(service, 'it has no ranked documents');
        return answer.data.map(({ index, relevance_score, score }) => ({
          index,
          score: relevance_score ?? score ?? Number.NaN,
        }));
      });
    },
  };
}

interface RankingRequest {
  query: string;
  documents: readonly string[];
  topN: number;
}

/** The best documents by one request. Retries little, because the hits are usable in their original order. */
export async function requestRanking(
  { query, documents, topN }: RankingRequest,
  service: HostedService,
  retry: RetryOptions,
  send: (request: RankingRequest) => Promise<RankedDocument[]>,
): Promise<RankedDocument[]> {
  retry.signal?.throwIfAborted();
  const count = Math.min(topN, documents.length);
  if (count < 1) return [];
  const request = { query: toSendableText(query), documents: documents.map(toSendableText), topN: count };
  const rank = async () => checkRanking(await send(request), request, service);
  return retryRequest(rank, { maxRetries: 1, longestWaitMs: 5000, ...retry });
}

/** The best `topN` documents, best first. Throws if the service ranked fewer, or others than it was sent. */
function checkRanking(
  given: readonly RankedDocument[],
  { documents, topN }: RankingRequest,
  service: HostedService,
): RankedDocument[] {
  const ranked = given
    .map(({ index, score }) => ({ index, score: toScore(score) }))
    .sort((a, b) => b.score - a.score);
  const areDistinct = new Set(ranked.map(({ index }) => index)).size === ranked.length;
  if (!areDistinct || ranked.length < topN || ranked.some(({ index }) => index >= documents.length)) {
    throw unusableAnswer(service, `it does not rank ${topN} of ${documents.length} documents`);
  }
  return ranked.slice(0, topN);
}
