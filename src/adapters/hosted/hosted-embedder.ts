import { createConcurrencyGate } from '../../async/concurrency-gate.ts';
import type { RetryOptions } from '../../faults/retry.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { maxTokenCount } from '../../text/estimate-tokens.ts';
import { type HostedService, retryRequest, unusableAnswer } from './json-service.ts';

/** Requests at a time. */
export const EMBEDDING_CONCURRENCY = 4;

interface HostedEmbedderOptions {
  service: HostedService;
  textsPerRequest: number;
  retry: RetryOptions;
  /** Requests the embeddings of one batch, in the order of the texts. */
  request(texts: readonly string[], isQuery: boolean, signal: AbortSignal): Promise<readonly number[][]>;
}

/**
 * An embedder that sends texts in batches. A batch that fails is retried alone; if it keeps failing, the others stop and
 * its error is thrown.
 */
export function createHostedEmbedder(
  description: Pick<Embedder, 'id' | 'dimensions' | 'maxTokens' | 'batchSize' | 'scoreThreshold'>,
  { service, textsPerRequest, retry, request }: HostedEmbedderOptions,
): Embedder {
  const gate = createConcurrencyGate({ concurrent: EMBEDDING_CONCURRENCY });

  async function embed(
    texts: readonly string[],
    isQuery: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    const failure = new AbortController();
    const stopSignal = AbortSignal.any([failure.signal, ...(signal === undefined ? [] : [signal])]);
    const embedBatch = async (batch: readonly string[]) => {
      stopSignal.throwIfAborted();
      return retryRequest(
        async () => toUnitVectors(await request(batch, isQuery, stopSignal), batch.length),
        { ...retry, signal: stopSignal },
      );
    };
    const batches = Array.from({ length: Math.ceil(texts.length / textsPerRequest) }, (_, index) =>
      gate
        .run(() => embedBatch(texts.slice(index * textsPerRequest, (index + 1) * textsPerRequest)))
        .catch((error: unknown) => {
          failure.abort(error);
          return [];
        }),
    );
    const vectors = await Promise.all(batches);
    stopSignal.throwIfAborted();
    return vectors.flat();
  }

  function toUnitVectors(rows: readonly number[][], count: number): Float32Array[] {
    if (rows.length !== count) {
      throw unusableAnswer(service, `it has ${rows.length} embeddings for ${count} texts`);
    }
    return rows.map((row) => {
      if (row.length !== description.dimensions) {
        const reason = `the vectors of ${service.model} have ${row.length} dimensions instead of ${description.dimensions}`;
        throw unusableAnswer(service, reason, false);
      }
      const length = Math.hypot(...row);
      if (!(length > 0 && length < Number.POSITIVE_INFINITY)) {
        throw unusableAnswer(service, 'an embedding is zero or not numeric');
      }
      return Float32Array.from(row, (value) => value / length);
    });
  }

  return {
    ...description,
    countTokens: maxTokenCount,
    embedDocuments: (texts, signal) => embed(texts, false, signal),
    async embedQuery(text, signal) {
      const [vector] = await embed([text], true, signal);
      return vector as Float32Array;
    },
    close: async () => {},
  };
}
