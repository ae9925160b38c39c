import * as z from 'zod';
import { AppError } from '../../faults/app-error.ts';
import type { RetryOptions } from '../../faults/retry.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { createHostedEmbedder, EMBEDDING_CONCURRENCY } from '../hosted/hosted-embedder.ts';
import { toSendableText } from '../hosted/json-service.ts';
import { type CohereOptions, connectToCohere } from './cohere-client.ts';

/** The API's limit. */
const MAX_TEXTS_PER_REQUEST = 96;

const answerSchema = z.object({ embeddings: z.object({ float: z.array(z.array(z.number())) }) });

export interface CohereEmbedderOptions extends CohereOptions, RetryOptions {
  model?: string | undefined;
}

/** The properties of the embedder that are known without a request. Throws for an unknown model. */
export function describeCohereEmbedder(model: string = DEFAULT_COHERE_MODEL) {
  return {
    id: `cohere:${model}`,
    ...getCohereModel(model),
    batchSize: MAX_TEXTS_PER_REQUEST * EMBEDDING_CONCURRENCY,
  };
}

export async function createCohereEmbedder(options: CohereEmbedderOptions): Promise<Embedder> {
  const { model = DEFAULT_COHERE_MODEL } = options;
  const { service, client } = await connectToCohere(options, model, answerSchema);
  return createHostedEmbedder(describeCohereEmbedder(model), {
    service,
    textsPerRequest: MAX_TEXTS_PER_REQUEST,
    retry: options,
    async request(texts, isQuery, abortSignal) {
      const { embeddings } = await client.embed(
        {
          model,
          inputType: isQuery ? 'search_query' : 'search_document',
          embeddingTypes: ['float'],
          truncate: 'END',
          texts: texts.map(toSendableText),
        },
        { abortSignal },
      );
      return embeddings.float ?? [];
    },
  });
}

type CohereModel = Pick<Embedder, 'dimensions' | 'maxTokens' | 'scoreThreshold'>;

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

function getCohereModel(name: string): CohereModel {
  const model = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (model !== undefined) return model;
  throw new AppError('configuration_error', `Unknown Cohere embedding model "${name}".`, {
    hint: `Use one of ${Object.keys(MODELS).join(', ')}.`,
  });
}
