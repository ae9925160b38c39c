import * as z from 'zod';
import { toScore } from '../../domain/retrieved-chunk.ts';
import { AppError } from '../../faults/app-error.ts';
import { type RetryOptions, retrying } from '../../faults/retry.ts';
import type { RankedDocument, Reranker } from '../../ports/reranker.ts';
import type { Service } from '../hosted/json-service.ts';
import { firstWaitMs, sendableText, unusableAnswer } from '../hosted/json-service.ts';
import { type CohereOptions, cohereService, createCohereClient } from './cohere-client.ts';

/** What is tried when no model is named, newest first: accounts and deployments differ in what they offer. */
const DEFAULT_MODELS = ['rerank-v4.0', 'rerank-v4.0-pro', 'rerank-v3.5'];

/**
 * In the example of Cohere's API reference, the passage that answers scores 0.999 and the best of those that only
 * share its subject 0.33. Not measured here.
 */
const SCORE_THRESHOLD = 0.35;

const answerSchema = z.object({
  results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
});

export interface CohereRerankerOptions extends CohereOptions, RetryOptions {
  /** Without it, the newest one that the service offers. */
  model?: string | undefined;
}

/**
 * Reranking by Cohere. Which model the service offers is found out by the first call, and remembered. Unless told
 * otherwise it gives up soon: someone is waiting, and there is an order to fall back to.
 */
export async function createCohereReranker(options: CohereRerankerOptions): Promise<Reranker> {
  const { maxRetries = 1, longestWaitMs = 5000 } = options;
  const [first = '', ...untried] = options.model === undefined ? DEFAULT_MODELS : [options.model];
  let current = connect(first);
  let model = (await current).service.model;

  async function connect(name: string) {
    const service = cohereService(options, name);
    return { service, client: await createCohereClient(options, service, answerSchema) };
  }

  /** Goes on to the next model if the service does not know this one; false if there is none. */
  function goOn(error: unknown, connection: typeof current): boolean {
    if (!(error instanceof AppError) || error.kind !== 'configuration_error') return false;
    // Otherwise a call at the same time has gone on already.
    if (connection === current) {
      const next = untried.shift();
      if (next === undefined) return false;
      current = connect(next);
      model = next;
    }
    return true;
  }

  return {
    get id() {
      return `cohere:${model}`;
    },
    scoreThreshold: SCORE_THRESHOLD,
    async rerank(query, documents, topN, signal) {
      signal?.throwIfAborted();
      const count = Math.min(topN, documents.length);
      if (count < 1) return [];
      const asking = { query: sendableText(query), documents: documents.map(sendableText), topN: count };
      for (;;) {
        const connection = current;
        const { client, service } = await connection;
        const rank = async () => {
          const request = { model: service.model, ...asking };
          const { results } = await client.rerank(
            request,
            signal === undefined ? {} : { abortSignal: signal },
          );
          return toRanked(results, asking, service);
        };
        try {
          return await retrying(rank, { firstWaitMs, ...options, maxRetries, longestWaitMs, signal });
        } catch (error) {
          if (!goOn(error, connection)) throw error;
        }
      }
    },
  };
}

function toRanked(
  results: ReadonlyArray<{ index: number; relevanceScore: number }>,
  { documents, topN }: { documents: readonly string[]; topN: number },
  service: Service,
): RankedDocument[] {
  const ranked = results
    .map(({ index, relevanceScore }) => ({ index, score: toScore(relevanceScore) }))
    .sort((a, b) => b.score - a.score);
  const different = new Set(ranked.map(({ index }) => index)).size === ranked.length;
  if (!different || ranked.length !== topN || ranked.some(({ index }) => index >= documents.length)) {
    throw unusableAnswer(service, `it does not rank ${topN} of ${documents.length} documents`);
  }
  return ranked;
}
