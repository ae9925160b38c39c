import * as z from 'zod';
import { createGate } from '../../async/gate.ts';
import { AppError } from '../../faults/app-error.ts';
import { type RetryOptions, retrying } from '../../faults/retry.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { mostTokens } from '../../text/estimate-tokens.ts';
import { processInBatches, toUnitVectors } from '../hosted/embed-batches.ts';
import { firstRetryDelayMs, toSendableText } from '../hosted/json-service.ts';
import { type CohereOptions, createCohereClient, createCohereService } from './cohere-client.ts';

/** The API's limit. */
const MAX_TEXTS_PER_REQUEST = 96;

const answerSchema = z.object({ embeddings: z.object({ float: z.array(z.array(z.number())) }) });

export interface CohereEmbedderOptions extends CohereOptions, RetryOptions {
  model?: string | undefined;
  /** How many requests run at a time; default 4. */
  concurrency?: number | undefined;
}

/** The properties of the embedder that are known without a request. Throws for an unknown model. */
export function describeCohereEmbedder(model: string = DEFAULT_COHERE_MODEL, concurrency = 4) {
  return {
    id: `cohere:${model}`,
    ...getCohereModel(model),
    batchSize: MAX_TEXTS_PER_REQUEST * concurrency,
  };
}

/** Embeddings by Cohere. A batch that fails is retried alone. */
export async function createCohereEmbedder(options: CohereEmbedderOptions): Promise<Embedder> {
  const { model = DEFAULT_COHERE_MODEL, concurrency = 4 } = options;
  const described = describeCohereEmbedder(model, concurrency);
  const service = createCohereService(options, model);
  const client = await createCohereClient(options, service, answerSchema);
  const gate = createGate({ concurrent: concurrency });

  function embed(
    texts: readonly string[],
    inputType: 'search_document' | 'search_query',
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    return processInBatches(texts, { size: MAX_TEXTS_PER_REQUEST, gate, signal }, (batch, abortSignal) =>
      retrying(
        async () => {
          const { embeddings } = await client.embed(
            {
              model,
              inputType,
              embeddingTypes: ['float'],
              truncate: 'END',
              texts: batch.map(toSendableText),
            },
            { abortSignal },
          );
          const expected = { count: batch.length, dimensions: described.dimensions };
          return toUnitVectors(embeddings.float, expected, service);
        },
        { firstWaitMs: firstRetryDelayMs, ...options, signal: abortSignal },
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
  /** Maximum length of a chunk. */
  maxTokens: number;
  scoreThreshold: number;
}

const DEFAULT_COHERE_MODEL = 'embed-v4.0';

/**
 * embed-v4.0 reads 128,000 tokens, but one vector should represent one passage, so chunks are as long as the older models
 * allow. The thresholds are not measured: embed-v4.0 has the one of text-embedding-3, and the older models have higher
 * ones because they tend to give unrelated texts higher cosines. AGENT_SCORE_THRESHOLD and --threshold override them.
 */
const MODELS: Readonly<Record<string, CohereModel>> = {
  'embed-v4.0': { dimensions: 1536, maxTokens: 512, scoreThreshold: 0.3 },
  'embed-english-v3.0': { dimensions: 1024, maxTokens: 512, scoreThreshold: 0.4 },
  'embed-multilingual-v3.0': { dimensions: 1024, maxTokens: 512, scoreThreshold: 0.45 },
  'embed-english-light-v3.0': { dimensions: 384, maxTokens: 512, scoreThreshold: 0.4 },
  'embed-multilingual-light-v3.0': { dimensions: 384, maxTokens: 512, scoreThreshold: 0.45 },
};

/** Throws `configuration_error` for an unknown model. */
function getCohereModel(name: string): CohereModel {
  const model = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (model !== undefined) return model;
  throw new AppError('configuration_error', `Unknown Cohere embedding model "${name}".`, {
    hint: `Use one of ${Object.keys(MODELS).join(', ')}.`,
  });
}
