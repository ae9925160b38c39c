import * as z from 'zod';
import { AppError } from '../../faults/app-error.ts';
import type { RetryOptions } from '../../faults/retry.ts';
import type { Reranker } from '../../ports/reranker.ts';
import { requestRanking } from '../hosted/hosted-reranker.ts';
import { type CohereOptions, connectToCohere } from './cohere-client.ts';

/** Tried in this order if no model is configured, because accounts and deployments offer different ones. */
const DEFAULT_MODELS = ['rerank-v4.0', 'rerank-v4.0-pro', 'rerank-v3.5'];

/** Not measured: in Cohere's API reference the answering passage scores 0.999, and related ones at most 0.33. */
const SCORE_THRESHOLD = 0.35;

const answerSchema = z.object({
  results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
});

export interface CohereRerankerOptions extends CohereOptions, RetryOptions {
  /** Default: the newest model that the service offers. */
  model?: string | undefined;
}

/** Reranking by Cohere. The first call finds out which model the service offers. */
export async function createCohereReranker(options: CohereRerankerOptions): Promise<Reranker> {
  const models = options.model === undefined ? DEFAULT_MODELS : [options.model];
  let [model = ''] = models;
  const connect = () => connectToCohere(options, model, answerSchema);
  // Throws at once for an unusable URL or key.
  await connect();

  return {
    get id() {
      return `cohere:${model}`;
    },
    scoreThreshold: SCORE_THRESHOLD,
    async rerank(query, documents, topN, signal) {
      const retry = { ...options, signal };
      for (;;) {
        const { client, service } = await connect();
        try {
          return await requestRanking({ query, documents, topN }, service, retry, async (texts) => {
            const request = { model: service.model, ...texts, documents: [...texts.documents] };
            const { results } = await client.rerank(request, signal && { abortSignal: signal });
            return results.map(({ index, relevanceScore }) => ({ index, score: relevanceScore }));
          });
        } catch (error) {
          const next = models[models.indexOf(service.model) + 1];
          const isNotOffered = error instanceof AppError && error.kind === 'configuration_error';
          if (!isNotOffered || next === undefined) throw error;
          // Otherwise a concurrent call has switched already.
          if (model === service.model) model = next;
        }
      }
    },
  };
}
