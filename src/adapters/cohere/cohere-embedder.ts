import * as z from 'zod';
import { createGate } from '../../async/gate.ts';
import { AppError } from '../../faults/app-error.ts';
import { type RetryOptions, retrying } from '../../faults/retry.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { mostTokens } from '../../text/estimate-tokens.ts';
import { inBatches, toUnitVectors } from '../hosted/embed-batches.ts';
import { firstWaitMs, sendableText } from '../hosted/json-service.ts';
import { type CohereOptions, cohereService, createCohereClient } from './cohere-client.ts';

/** The most texts that the API takes at once. */
const BATCH = 96;

const answerSchema = z.object({ embeddings: z.object({ float: z.array(z.array(z.number())) }) });

export interface CohereEmbedderOptions extends CohereOptions, RetryOptions {
  model?: string | undefined;
  /** How many requests are under way at a time. */
  concurrency?: number | undefined;
}

/** What is known of the embedder before anything is sent. Throws `configuration_error` for an unknown model. */
export function describeCohereEmbedder(model: string = DEFAULT_COHERE_MODEL, concurrency = 4) {
  return {
    id: `cohere:${model}`,
    ...cohereModel(model),
    // Enough for every request that may be under way.
    batchSize: BATCH * concurrency,
  };
}

/** Embeddings by Cohere. Each batch is repeated on its own when it fails: the others are not sent again. */
export async function createCohereEmbedder(options: CohereEmbedderOptions): Promise<Embedder> {
  const { model = DEFAULT_COHERE_MODEL, concurrency = 4 } = options;
  const described = describeCohereEmbedder(model, concurrency);
  const service = cohereService(options, model);
  const client = await createCohereClient(options, service, answerSchema);
  const gate = createGate({ concurrent: concurrency });

  function embed(
    texts: readonly string[],
    inputType: 'search_document' | 'search_query',
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    return inBatches(texts, { size: BATCH, gate, signal }, (batch, abortSignal) =>
      retrying(
        async () => {
          const { embeddings } = await client.embed(
            {
              model,
              inputType,
              embeddingTypes: ['float'],
              truncate: 'END',
              texts: batch.map(sendableText),
            },
            { abortSignal },
          );
          const expected = { count: batch.length, dimensions: described.dimensions };
          return toUnitVectors(embeddings.float, expected, service);
        },
        { firstWaitMs, ...options, signal: abortSignal },
      ),
    );
  }

  return {
    ...described,
    countTokens: mostTokens,
    embedDocuments: (texts, signal) => embed(texts, 'search_document', signal),
    async embedQuery(text, signal) {
      const [vector] = await embed([text], 'search_query', signal);
      return vector as Float32Array;
    },
    close: async () => {},
  };
}

interface CohereModel {
  dimensions: number;
  /** How long a chunk may be. */
  maxTokens: number;
  scoreThreshold: number;
}

const DEFAULT_COHERE_MODEL = 'embed-v4.0';

/**
 * embed-v4.0 reads 128,000 tokens, but a vector of a whole chapter says little about any sentence of it, and a
 * citation must lead to a passage: chunks are as long as the older models allow.
 *
 * The thresholds are guesses to start from: Cohere publishes none, and none was measured, for want of a key. The
 * value of embed-v4.0 is that of text-embedding-3; those of the v3 models are set higher, of the multilingual ones
 * most, since older models tend to give unrelated texts higher cosines. AGENT_SCORE_THRESHOLD or --threshold
 * overrides them, and `citeloop search --explain` shows the cosines to choose by.
 */
const MODELS: Readonly<Record<string, CohereModel>> = {
  'embed-v4.0': { dimensions: 1536, maxTokens: 512, scoreThreshold: 0.3 },
  'embed-english-v3.0': { dimensions: 1024, maxTokens: 512, scoreThreshold: 0.4 },
  'embed-multilingual-v3.0': { dimensions: 1024, maxTokens: 512, scoreThreshold: 0.45 },
  'embed-english-light-v3.0': { dimensions: 384, maxTokens: 512, scoreThreshold: 0.4 },
  'embed-multilingual-light-v3.0': { dimensions: 384, maxTokens: 512, scoreThreshold: 0.45 },
};

/** Throws `configuration_error` for a model that is not known here. */
function cohereModel(name: string): CohereModel {
  const model = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (model !== undefined) return model;
  throw new AppError('configuration_error', `Cohere's embedding model "${name}" is not known here.`, {
    hint: `Use one of ${Object.keys(MODELS).join(', ')}.`,
  });
}
