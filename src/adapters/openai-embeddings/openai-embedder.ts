import type { Embedder } from '../../ports/embedder.ts';
import { cutToTokens, estimateTokens } from '../hosted/estimate-tokens.ts';
import { createGate } from '../hosted/gate.ts';
import { inBatches } from '../hosted/in-batches.ts';
import { postJson } from '../hosted/post-json.ts';
import { type RetryOptions, retrying } from '../hosted/retrying.ts';
import { sendableText } from '../hosted/sendable-text.ts';
import { checkAccess, type Service } from '../hosted/service.ts';
import { toUnitVectors } from '../hosted/unit-vectors.ts';
import { knownModel } from './known-models.ts';
import { type EmbeddingRow, readAnswer } from './read-answer.ts';

const BATCH = 64;

export interface OpenAiEmbedderOptions extends RetryOptions {
  /** Servers on the own machine mostly need none. */
  apiKey?: string | undefined;
  /** Up to and including /v1. */
  baseUrl: string;
  model: string;
  /** Learnt from a first call where it is neither given nor known. OpenAI's own models shorten their vectors to it. */
  dimensions?: number | undefined;
  /** For one request. */
  timeoutMs: number;
  /** How many requests are under way at a time. */
  concurrency?: number | undefined;
  /** Where the person sets the key; OPENAI_API_KEY unless given. */
  keyVariable?: string | undefined;
  /** Ends the first call. */
  signal?: AbortSignal | undefined;
}

type Described = Pick<Embedder, 'id' | 'maxTokens' | 'batchSize' | 'scoreThreshold'>;

/** What is known of the embedder before anything is sent; the dimensions only for some models. */
export function describeOpenAiEmbedder(
  options: Pick<OpenAiEmbedderOptions, 'baseUrl' | 'model' | 'dimensions' | 'concurrency'>,
): Described & { dimensions: number | undefined } {
  const { model, baseUrl, concurrency = 4 } = options;
  const known = knownModel(model);
  return {
    id: idOf(model, baseUrl),
    dimensions: options.dimensions ?? known.dimensions,
    maxTokens: known.maxTokens,
    batchSize: BATCH * concurrency,
    scoreThreshold: known.scoreThreshold,
  };
}

/**
 * Embeddings by any service that speaks OpenAI's API: OpenAI, Ollama, vLLM, LM Studio. By plain `fetch`: it is one
 * endpoint, and the official client takes a third of a second to load. Long texts are cut here, since many servers
 * refuse them. Each batch is repeated on its own when it fails: the others are not sent again.
 */
export async function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Promise<Embedder> {
  const { apiKey, baseUrl, model, timeoutMs, concurrency = 4 } = options;
  const { queryPrefix = '', documentPrefix = '', shortens = false } = knownModel(model);
  const host = URL.canParse(baseUrl) ? ` at ${new URL(baseUrl).host}` : '';
  const service: Service = {
    name: `The embedding service${host}`,
    model,
    apiKey,
    keyVariable: options.keyVariable ?? 'OPENAI_API_KEY',
    timeoutMs,
  };
  checkAccess(service, baseUrl);
  const { dimensions: expected, ...described } = describeOpenAiEmbedder(options);
  const url = endpointOf(baseUrl);
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const gate = createGate(concurrency);

  /** The rows of an answer as they came, in the order of the texts. */
  async function request(input: readonly string[], signal: AbortSignal | undefined): Promise<EmbeddingRow[]> {
    const body = {
      model,
      input,
      encoding_format: 'float',
      ...(shortens && options.dimensions !== undefined && { dimensions: options.dimensions }),
    };
    return readAnswer(await postJson({ url, headers, body, signal }, service), service);
  }

  const dimensions =
    expected ??
    (await retrying(
      async () => {
        const rows = await request(['dimensions'], options.signal);
        return rows[0]?.length ?? 0;
      },
      options,
      options.signal,
    ));

  function embed(
    texts: readonly string[],
    prefix: string,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    const inputs = texts.map((text) => prefix + sendableText(cutToTokens(text, described.maxTokens)));
    return inBatches(inputs, { size: BATCH, gate, signal }, (batch, either) =>
      retrying(
        async () => toUnitVectors(await request(batch, either), { count: batch.length, dimensions }, service),
        options,
        either,
      ),
    );
  }

  return {
    ...described,
    dimensions,
    countTokens: estimateTokens,
    embedDocuments: (texts, signal) => embed(texts, documentPrefix, signal),
    async embedQuery(text, signal) {
      const [vector] = await embed([text], queryPrefix, signal);
      return vector as Float32Array;
    },
    close: async () => {},
  };
}

/** A query string of the base URL stays, since some gateways want their version there. */
function endpointOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/*$/, '/embeddings');
  return url.href;
}

/** Servers may have different weights under one name; the names of this machine all mean the same. */
function idOf(model: string, baseUrl: string): string {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  if (host === 'api.openai.com') return `openai:${model}`;
  return `openai:${model}@${host.replace(/^(127\.0\.0\.1|\[::1\])(?=:|$)/, 'localhost')}`;
}
