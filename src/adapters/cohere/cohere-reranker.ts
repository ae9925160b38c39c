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
  const [first = '', ...untried] = options.model === undefined ? DEFAULT_MODELS : [options.model];
  const connect = (name: string) => connectToCohere(options, name, answerSchema);
  let current = connect(first);
  let model = (await current).service.model;

  /** Switches to the next model if the service does not offer this one; false if there is none. */
  function tryNextModel(error: unknown, connection: typeof current): boolean {
    if (!(error instanceof AppError) || error.kind !== 'configuration_error') return false;
    // Otherwise a concurrent call has switched already.
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
      const retry = { ...options, signal };
      for (;;) {
        const connection = current;
        const { client, service } = await connection;
        try {
          return await requestRanking({ query, documents, topN }, service, retry, async (texts) => {
            const request = { model: service.model, ...texts, documents: [...texts.documents] };
            const { results } = await client.rerank(request, signal && { abortSignal: signal });
            return results.map(({ index, relevanceScore }) => ({ index, score: relevanceScore }));
          });
        } catch (error) {
          if (!tryNextModel(error, connection)) throw error;
        }
      }
    },
  };
}
