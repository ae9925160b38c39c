import * as z from 'zod';
import type { Embedder } from '../../ports/embedder.ts';
import { estimateTokens } from '../hosted/estimate-tokens.ts';
import { createGate } from '../hosted/gate.ts';
import { inBatches } from '../hosted/in-batches.ts';
import { type RetryOptions, retrying } from '../hosted/retrying.ts';
import { sendableText } from '../hosted/sendable-text.ts';
import { toUnitVectors } from '../hosted/unit-vectors.ts';
import { type CohereOptions, cohereService, createCohereClient } from './cohere-client.ts';
import { cohereModel, DEFAULT_COHERE_MODEL } from './cohere-models.ts';

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
  const gate = createGate(concurrency);

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
        options,
        abortSignal,
      ),
    );
  }

  return {
    ...described,
    countTokens: estimateTokens,
    embedDocuments: (texts, signal) => embed(texts, 'search_document', signal),
    async embedQuery(text, signal) {
      const [vector] = await embed([text], 'search_query', signal);
      return vector as Float32Array;
    },
    close: async () => {},
  };
}
