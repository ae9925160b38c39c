import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { sharedWords, textVector } from '../adapters/openai/text-vector.ts';
import { answerChat, answerResponses, type ModelCapabilities } from './hosted-model.ts';
import { listenForTest } from './listen-for-test.ts';

/** The keys of each service, unmistakable in any output. */
export const SERVICE_KEYS = {
  model: 'sk-planted-model-0123456789abcdef',
  embedding: 'sk-planted-embedding-0123456789abcdef',
  cohere: 'co-planted-0123456789abcdef0123456789',
} as const;

export const EMBEDDING_DIMENSIONS = 256;
const COHERE_DIMENSIONS = 1536;
const RERANKERS = ['rerank-v3.5'];

export interface HostedRequest {
  path: string;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

export interface HostedServices {
  /** OpenAI's APIs, including /v1. */
  baseUrl: string;
  /** Cohere's API. */
  cohereUrl: string;
  requests: HostedRequest[];
  /** Overrides the responses of a path, in order; the last one repeats, and undefined is the default response. */
  respondWith(path: string, ...answers: (RequestListener | undefined)[]): void;
}

/**
 * Serves OpenAI's models and embeddings and Cohere's embeddings and reranking locally, written from their published API
 * references. A wrong key is rejected with a message that quotes it, as some services do.
 */
export async function startHostedServices(traits: Partial<ModelCapabilities> = {}): Promise<HostedServices> {
  const requests: HostedRequest[] = [];
  const overrides = new Map<string, (RequestListener | undefined)[]>();
  const model = { tools: true, usage: true, streaming: true, ...traits };

  const routes: Record<string, (body: Record<string, unknown>, response: ServerResponse) => unknown> = {
    '/v1/embeddings': embed,
    '/v1/chat/completions': (body, response) => answerChat(body, response, model),
    '/v1/responses': (body, response) => answerResponses(body, response, model),
    '/v2/embed': cohereEmbed,
    '/v2/rerank': cohereRerank,
    '/v1/models': (_, response) => sendJson(response, 200, { object: 'list', data: [], models: [] }),
  };

  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const { authorization } = request.headers;
    const sent = await text(request);
    const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
    requests.push({ path, authorization, body });
    const answers = overrides.get(path) ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer !== undefined) return answer(request, response);
    const given = authorization?.replace(/^Bearer /, '') ?? '';
    if (!isKeyAccepted(path, given)) return rejectKey(path, given, response);
    const route = routes[path];
    if (route === undefined) return sendJson(response, 404, { error: { message: `Nothing at ${path}.` } });
    route(body, response);
  });
  const { origin: cohereUrl } = await listenForTest(server);
  return {
    baseUrl: `${cohereUrl}/v1`,
    cohereUrl,
    requests,
    respondWith: (path, ...answers) => void overrides.set(path, answers),
  };
}

function isKeyAccepted(path: string, key: string): boolean {
  if (path === '/v1/models') return Object.values(SERVICE_KEYS).some((each) => each === key);
  if (path.startsWith('/v2/')) return key === SERVICE_KEYS.cohere;
  return key === (path === '/v1/embeddings' ? SERVICE_KEYS.embedding : SERVICE_KEYS.model);
}

function rejectKey(path: string, given: string, response: ServerResponse): void {
  const message = `Incorrect API key provided: ${given}. You can find yours in your account.`;
  sendJson(
    response,
    401,
    path.startsWith('/v2/') ? { id: 'f1', message } : { error: { message, code: 'invalid_api_key' } },
  );
}

function embed(body: Record<string, unknown>, response: ServerResponse): unknown {
  const { model, input } = body as { model: string; input: string[] };
  if (model === 'no-such-model') {
    return sendJson(response, 404, {
      error: { message: `The model \`${model}\` does not exist`, code: 'model_not_found' },
    });
  }
  const data = input.map((each, index) => ({
    object: 'embedding',
    index,
    embedding: textVector(each, EMBEDDING_DIMENSIONS),
  }));
  return sendJson(response, 200, {
    object: 'list',
    data,
    model,
    usage: { prompt_tokens: 1, total_tokens: 1 },
  });
}

function cohereEmbed(body: Record<string, unknown>, response: ServerResponse): unknown {
  const { texts } = body as { texts: string[] };
  return sendJson(response, 200, {
    id: 'e1',
    embeddings: { float: texts.map((each) => textVector(each, COHERE_DIMENSIONS)) },
    texts,
    meta: { api_version: { version: '2' } },
    response_type: 'embeddings_by_type',
  });
}

function cohereRerank(body: Record<string, unknown>, response: ServerResponse): unknown {
  const { model, query, documents, top_n } = body as {
    model: string;
    query: string;
    documents: string[];
    top_n: number;
  };
  if (!RERANKERS.includes(model))
    return sendJson(response, 404, { id: 'f1', message: `model '${model}' not found` });
  const results = documents
    .map((document, index) => ({ index, relevance_score: sharedWords(query, document) }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top_n);
  return sendJson(response, 200, { id: 'r1', results, meta: { api_version: { version: '2' } } });
}

export function sendJson(response: ServerResponse, status: number, body: unknown): unknown {
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
