import { setTimeout as delay } from 'node:timers/promises';
import { HttpResponse, http } from 'msw';
import * as z from 'zod';
import { sharedWords, textVector } from '../openai/text-vector.ts';

/**
 * A fake of Cohere's API v2 by its reference (docs.cohere.com/reference/embed, /rerank and /errors). It is stricter than
 * the original: it refuses fields that the reference does not name.
 */
export const COHERE = 'https://api.cohere.com';
export const KEY = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCd';

const text = z.string().refine((value) => value.trim() !== '' && value.isWellFormed());
const embedSchema = z.strictObject({
  model: z.string(),
  input_type: z.enum(['search_document', 'search_query']),
  embedding_types: z.tuple([z.literal('float')]),
  truncate: z.enum(['NONE', 'START', 'END']),
  texts: z.array(text).min(1).max(96),
});
const rerankSchema = z.strictObject({
  model: z.string(),
  query: text,
  documents: z.array(text).min(1).max(1000),
  top_n: z.int().min(1),
});
export type EmbedBody = z.infer<typeof embedSchema>;
export type RerankBody = z.infer<typeof rerankSchema>;

export interface FakeCohere {
  embeds: EmbedBody[];
  reranks: RerankBody[];
  authorizations: Array<string | null>;
  /** The requests that are under way. */
  underWay: number;
  /** The most requests that were under way at a time. */
  peak: number;
  /** What a request gets instead of its answer; called for each. */
  intercept: (body: EmbedBody | RerankBody) => Response | undefined | Promise<Response | undefined>;
  reset(): void;
}

export function createFakeCohere(dimensions = 1536) {
  const fake: FakeCohere = {
    embeds: [],
    reranks: [],
    authorizations: [],
    underWay: 0,
    peak: 0,
    intercept: () => undefined,
    reset() {
      Object.assign(fake, {
        embeds: [],
        reranks: [],
        authorizations: [],
        peak: 0,
        intercept: () => undefined,
      });
    },
  };

  async function during(answer: () => Promise<Response>): Promise<Response> {
    fake.underWay += 1;
    fake.peak = Math.max(fake.peak, fake.underWay);
    await delay(2);
    return await answer().finally(() => {
      fake.underWay -= 1;
    });
  }

  const handlers = [
    http.post(`${COHERE}/v2/embed`, ({ request }) =>
      during(async () => {
        fake.authorizations.push(request.headers.get('authorization'));
        const body = embedSchema.safeParse(await request.json());
        if (!body.success) return failure(400, `invalid request: ${z.prettifyError(body.error)}`);
        fake.embeds.push(body.data);
        return (await fake.intercept(body.data)) ?? embeddings(body.data.texts, dimensions);
      }),
    ),
    http.post(`${COHERE}/v2/rerank`, ({ request }) =>
      during(async () => {
        fake.authorizations.push(request.headers.get('authorization'));
        const body = rerankSchema.safeParse(await request.json());
        if (!body.success) return failure(400, `invalid request: ${z.prettifyError(body.error)}`);
        fake.reranks.push(body.data);
        return (await fake.intercept(body.data)) ?? ranking(body.data);
      }),
    ),
  ];
  return { fake, handlers };
}

export function failure(status: number, message: string, headers: Record<string, string> = {}): Response {
  return HttpResponse.json({ id: 'f1', message }, { status, headers });
}

export function unknownModel(model: string): Response {
  const advice = 'make sure the correct model ID was used and that you have access to the model.';
  return failure(404, `model '${model}' not found, ${advice}`);
}

function embeddings(texts: readonly string[], dimensions: number): Response {
  return HttpResponse.json({
    id: 'e1',
    embeddings: { float: texts.map((each) => textVector(each, dimensions)) },
    texts,
    meta: { api_version: { version: '2' }, billed_units: { input_tokens: texts.length } },
    response_type: 'embeddings_by_type',
  });
}

function ranking({ query, documents, top_n }: RerankBody): Response {
  const results = documents
    .map((document, index) => ({ index, relevance_score: sharedWords(query, document) }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top_n);
  const meta = { api_version: { version: '2', is_experimental: false }, billed_units: { search_units: 1 } };
  return HttpResponse.json({ id: 'r1', results, meta });
}
