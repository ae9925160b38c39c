import { setTimeout as delay } from 'node:timers/promises';
import { HttpResponse, http } from 'msw';
import * as z from 'zod';
import { textVector } from './text-vector.ts';

/**
 * A fake of OpenAI's `/embeddings` by its reference. It is as strict as the strictest compatible server: it refuses blank
 * and long texts, and fields that the reference does not name.
 */
export const KEY = 'sk-proj-planted0123456789abcdefghij';
export const OPENAI_URL = 'https://api.openai.com/v1';
export const OLLAMA_URL = 'http://127.0.0.1:11434/v1';

const MAX_WORDS = 512;

const bodySchema = z.strictObject({
  model: z.string(),
  input: z
    .array(
      z
        .string()
        .refine((text) => text.trim() !== '' && text.isWellFormed())
        .refine((text) => text.split(/\s+/).length <= MAX_WORDS, 'maximum context length exceeded'),
    )
    .min(1)
    .max(2048),
  encoding_format: z.literal('float'),
  dimensions: z.int().optional(),
});
type Body = z.infer<typeof bodySchema>;

export function createFakeEmbeddings(dimensions: number) {
  let running = 0;
  const fake = {
    requests: [] as Body[],
    authorizations: [] as Array<string | null>,
    /** The most requests that ran at a time. */
    peak: 0,
    intercept: (_: Body): Response | undefined => undefined,
    reset() {
      Object.assign(fake, { requests: [], authorizations: [], peak: 0, intercept: () => undefined });
    },
  };

  async function answer(request: Request): Promise<Response> {
    fake.authorizations.push(request.headers.get('authorization'));
    const body = bodySchema.safeParse(await request.json());
    if (!body.success) return failure(400, z.prettifyError(body.error));
    fake.requests.push(body.data);
    return fake.intercept(body.data) ?? embeddings(body.data, body.data.dimensions ?? dimensions);
  }

  const handlers = [`${OPENAI_URL}/embeddings`, `${OLLAMA_URL}/embeddings`].map((url) =>
    http.post(url, async ({ request }) => {
      running += 1;
      fake.peak = Math.max(fake.peak, running);
      await delay(2);
      return await answer(request).finally(() => {
        running -= 1;
      });
    }),
  );
  return { fake, handlers };
}

export function failure(status: number, message: string, headers: Record<string, string> = {}): Response {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  return HttpResponse.json({ error }, { status, headers });
}

function embeddings({ input, model }: Body, dimensions: number): Response {
  const data = input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: textVector(text, dimensions),
  }));
  const usage = { prompt_tokens: input.length, total_tokens: input.length };
  return HttpResponse.json({ object: 'list', data, model, usage });
}
