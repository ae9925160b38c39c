import * as z from 'zod';
import type { RetryOptions } from '../../faults/retry.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { cutToMaxTokenCount } from '../../text/estimate-tokens.ts';
import { createHostedEmbedder, EMBEDDING_CONCURRENCY } from '../hosted/hosted-embedder.ts';
import {
  assertValidAccess,
  type HostedService,
  postJson,
  retryRequest,
  toSendableText,
  unusableAnswer,
} from '../hosted/json-service.ts';

const TEXTS_PER_REQUEST = 64;

export interface OpenAiEmbedderOptions extends RetryOptions {
  /** Local servers mostly need none. */
  apiKey?: string | undefined;
  /** The keys of other services, which are removed from error messages too. */
  secrets?: readonly string[] | undefined;
  /** Including /v1. */
  baseUrl: string;
  model: string;
  /** Default: that of the model, if necessary found out by a request. OpenAI's models shorten their vectors to it. */
  dimensions?: number | undefined;
  timeoutMs: number;
  /** The variable that holds the key; default OPENAI_API_KEY. */
  keyVariable?: string | undefined;
  /** Stops the request for the dimensions. */
  signal?: AbortSignal | undefined;
}

/** The properties of the embedder that are known without a request; the dimensions only for some models. */
export function describeOpenAiEmbedder(
  options: Pick<OpenAiEmbedderOptions, 'baseUrl' | 'model' | 'dimensions'>,
) {
  const { model, baseUrl } = options;
  const known = findKnownModel(model);
  return {
    id: embedderId(model, baseUrl),
    dimensions: options.dimensions ?? known.dimensions,
    maxTokens: known.maxTokens,
    batchSize: TEXTS_PER_REQUEST * EMBEDDING_CONCURRENCY,
    scoreThreshold: known.scoreThreshold,
  };
}

/**
 * Embeddings by any service with OpenAI's API: OpenAI, Ollama, vLLM, LM Studio. Uses `fetch` for the one endpoint, because
 * the OpenAI client is slow to load. Long texts are cut, since many servers refuse them.
 */
export async function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Promise<Embedder> {
  const { apiKey, baseUrl, model, timeoutMs } = options;
  const { queryPrefix = '', documentPrefix = '' } = findKnownModel(model);
  const canShorten = /^text-embedding-3-(small|large)$/i.test(model);
  const host = URL.canParse(baseUrl) ? ` at ${new URL(baseUrl).host}` : '';
  const service: HostedService = {
    name: `The embedding service${host}`,
    model,
    apiKey,
    secrets: options.secrets,
    keyVariable: options.keyVariable ?? 'OPENAI_API_KEY',
    timeoutMs,
  };
  assertValidAccess(service, baseUrl);
  const { dimensions: expected, ...described } = describeOpenAiEmbedder(options);
  // Keeps the query string of the base URL, in which some gateways expect their API version.
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/*$/, '/embeddings');
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

  /** The embeddings in the order of the texts. */
  async function requestEmbeddings(input: readonly string[], signal: AbortSignal | undefined) {
    const body = {
      model,
      input,
      encoding_format: 'float',
      ...(canShorten && options.dimensions !== undefined && { dimensions: options.dimensions }),
    };
    return parseAnswer(await postJson({ url: url.href, headers, body, signal }, service), service);
  }

  const dimensions =
    expected ??
    (await retryRequest(
      async () => (await requestEmbeddings(['dimensions'], options.signal))[0]?.length ?? 0,
      options,
    ));

  return createHostedEmbedder(
    { ...described, dimensions },
    {
      service,
      textsPerRequest: TEXTS_PER_REQUEST,
      retry: options,
      request(texts, isQuery, signal) {
        const prefix = isQuery ? queryPrefix : documentPrefix;
        const toInput = (text: string) =>
          prefix + toSendableText(cutToMaxTokenCount(text, described.maxTokens));
        return requestEmbeddings(texts.map(toInput), signal);
      },
    },
  );
}

/** Includes the host, because servers may have different weights under one name. */
function embedderId(model: string, baseUrl: string): string {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  if (host === 'api.openai.com') return `openai:${model}`;
  return `openai:${model}@${host.replace(/^(127\.0\.0\.1|\[::1\])(?=:|$)/, 'localhost')}`;
}

/** Not every server sends an index; those that do may send the rows in any order. */
const answerSchema = z.object({
  data: z.array(
    z.object({ index: z.int().min(0).optional().catch(undefined), embedding: z.array(z.number()).min(1) }),
  ),
});

function parseAnswer(answer: unknown, service: HostedService): number[][] {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) throw unusableAnswer(service, 'it has no embeddings');
  const { data } = parsed.data;
  const hasIndexes = new Set(data.map(({ index }) => index)).size === data.length;
  if (hasIndexes) data.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  return data.map(({ embedding }) => embedding);
}

interface KnownModel {
  /** Absent if it differs between versions: then it is found out by a request. */
  dimensions?: number;
  maxTokens: number;
  scoreThreshold: number;
  /** The prefixes that the model was trained with. */
  queryPrefix?: string;
  documentPrefix?: string;
}

/** The smallest limit and a middle threshold of the models below. */
const UNKNOWN_MODEL: KnownModel = { maxTokens: 256, scoreThreshold: 0.4 };

const BGE_QUERY_PREFIX = 'Represent this sentence for searching relevant passages: ';

/**
 * Chunks have at most 512 tokens even if a model reads 8,000, because one vector should represent one passage.
 *
 * Only the threshold of all-MiniLM is measured (bench/quality.ts). The others follow published cosines:
 * text-embedding-3 has 0.44 for on-topic and 0.08 for off-topic questions (afurmanov.com/chunk-size-embedding-similarity),
 * ada-002 about 0.8 for unrelated words (S. Anand, "Embeddings similarity threshold", 2024), E5 0.7 to 1 and the first
 * BGE 0.6 to 1 (model cards). AGENT_SCORE_THRESHOLD overrides them.
 */
const MODELS: ReadonlyArray<[RegExp, KnownModel]> = [
  [/^text-embedding-3-small$/, { dimensions: 1536, maxTokens: 512, scoreThreshold: 0.3 }],
  [/^text-embedding-3-large$/, { dimensions: 3072, maxTokens: 512, scoreThreshold: 0.3 }],
  [/^text-embedding-ada-002$/, { dimensions: 1536, maxTokens: 512, scoreThreshold: 0.78 }],
  [/all-minilm/, { maxTokens: 256, scoreThreshold: 0.3 }],
  [
    /nomic-embed-text/,
    {
      maxTokens: 512,
      scoreThreshold: 0.55,
      queryPrefix: 'search_query: ',
      documentPrefix: 'search_document: ',
    },
  ],
  [/mxbai-embed-large/, { maxTokens: 480, scoreThreshold: 0.5, queryPrefix: BGE_QUERY_PREFIX }],
  [/bge-m3/, { maxTokens: 512, scoreThreshold: 0.45 }],
  [/bge-(small|base|large)-en/, { maxTokens: 480, scoreThreshold: 0.55, queryPrefix: BGE_QUERY_PREFIX }],
  [
    /(^|[/-])e5-(small|base|large)/,
    { maxTokens: 480, scoreThreshold: 0.78, queryPrefix: 'query: ', documentPrefix: 'passage: ' },
  ],
];

/** Finds a model by its name, with or without owner and tag. */
function findKnownModel(name: string): KnownModel {
  return MODELS.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? UNKNOWN_MODEL;
}
