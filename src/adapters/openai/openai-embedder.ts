import * as z from 'zod';
import { createGate } from '../../async/gate.ts';
import { type RetryOptions, retrying } from '../../faults/retry.ts';
import type { Embedder } from '../../ports/embedder.ts';
import { cutToTokens, mostTokens } from '../../text/estimate-tokens.ts';
import { inBatches, toUnitVectors } from '../hosted/embed-batches.ts';
import {
  checkAccess,
  firstWaitMs,
  postJson,
  type Service,
  sendableText,
  unusableAnswer,
} from '../hosted/json-service.ts';

const BATCH = 64;

export interface OpenAiEmbedderOptions extends RetryOptions {
  /** Servers on the own machine mostly need none. */
  apiKey?: string | undefined;
  /** The keys of other services; no sentence shows them. */
  secrets?: readonly string[] | undefined;
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
    secrets: options.secrets,
    keyVariable: options.keyVariable ?? 'OPENAI_API_KEY',
    timeoutMs,
  };
  checkAccess(service, baseUrl);
  const { dimensions: expected, ...described } = describeOpenAiEmbedder(options);
  const url = endpointOf(baseUrl);
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const gate = createGate({ concurrent: concurrency });

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
      { firstWaitMs, ...options },
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
        { firstWaitMs, ...options, signal: either },
      ),
    );
  }

  return {
    ...described,
    dimensions,
    countTokens: mostTokens,
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

const rowSchema = z.array(z.number()).min(1);
type EmbeddingRow = z.infer<typeof rowSchema>;

/** Not every server numbers its rows; those that do may send them in any order. */
const answerSchema = z.object({
  data: z.array(z.object({ index: z.int().min(0).optional().catch(undefined), embedding: rowSchema })),
});

/** The embeddings of an answer in the order of the texts. */
function readAnswer(answer: unknown, service: Service): EmbeddingRow[] {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) throw unusableAnswer(service, 'it holds no embeddings');
  const { data } = parsed.data;
  const numbered = new Set(data.map(({ index }) => index)).size === data.length;
  if (numbered) data.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  return data.map(({ embedding }) => embedding);
}

interface KnownModel {
  /** Learnt from a first call where it is not known. */
  dimensions?: number;
  /** How long a chunk may be. */
  maxTokens: number;
  scoreThreshold: number;
  /** Whether shorter vectors can be asked for. */
  shortens?: boolean;
  /** What the model was trained to see before a question, and before a passage. */
  queryPrefix?: string;
  documentPrefix?: string;
}

/** The smallest window of the models in use, and a threshold in the middle of theirs. */
const UNKNOWN: KnownModel = { maxTokens: 256, scoreThreshold: 0.4 };

/**
 * Chunks stay at 512 tokens or below even where a model reads 8,000: one vector should mean one passage.
 *
 * The thresholds are starting values after what others have published, since the scales of cosines differ, and
 * only the one of all-MiniLM was measured here (bench/quality.ts). text-embedding-3 gave on-topic questions 0.44
 * and off-topic ones 0.08 (afurmanov.com/chunk-size-embedding-similarity); ada-002 gave even unrelated words about
 * 0.8 (S. Anand, "Embeddings similarity threshold", 2024); the cards of E5 and of the first BGE place everything
 * between 0.7 and 1, and 0.6 and 1. The others are placed between. AGENT_SCORE_THRESHOLD overrides them.
 */
const MODELS: ReadonlyArray<[RegExp, KnownModel]> = [
  [/^text-embedding-3-small$/, { dimensions: 1536, maxTokens: 512, scoreThreshold: 0.3, shortens: true }],
  [/^text-embedding-3-large$/, { dimensions: 3072, maxTokens: 512, scoreThreshold: 0.3, shortens: true }],
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
  [
    /mxbai-embed-large/,
    {
      maxTokens: 480,
      scoreThreshold: 0.5,
      queryPrefix: 'Represent this sentence for searching relevant passages: ',
    },
  ],
  [/bge-m3/, { maxTokens: 512, scoreThreshold: 0.45 }],
  [
    /bge-(small|base|large)-en/,
    {
      maxTokens: 480,
      scoreThreshold: 0.55,
      queryPrefix: 'Represent this sentence for searching relevant passages: ',
    },
  ],
  [
    /(^|[/-])e5-(small|base|large)/,
    { maxTokens: 480, scoreThreshold: 0.78, queryPrefix: 'query: ', documentPrefix: 'passage: ' },
  ],
];

/** What is known of a model by its name, with or without an owner before it and a tag behind it. */
function knownModel(name: string): KnownModel {
  return MODELS.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? UNKNOWN;
}
