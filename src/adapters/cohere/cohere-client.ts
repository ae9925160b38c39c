import type { CohereClientV2 } from 'cohere-ai';
import type * as z from 'zod';
import { assertValidAccess, type HostedService, postJson, unusableAnswer } from '../hosted/json-service.ts';

const COHERE_URL = 'https://api.cohere.com';

export interface CohereOptions {
  apiKey: string;
  /** Of a proxy or a private deployment. */
  baseUrl?: string | undefined;
  timeoutMs: number;
  /** The keys of other services, which are removed from error messages too. */
  secrets?: readonly string[] | undefined;
}

/**
 * Cohere's client with a custom fetcher that makes one attempt and throws AppErrors. The client's own fetcher does not
 * clear its timer after a failed request, which keeps the process alive for up to 300 s, and has no timeout for the
 * body. The schema is checked first, because the client prints unexpected answers to the console.
 */
export async function connectToCohere(
  { apiKey, baseUrl = COHERE_URL, timeoutMs, secrets }: CohereOptions,
  model: string,
  answerSchema: z.ZodType,
): Promise<{ service: HostedService; client: CohereClientV2 }> {
  const service = { name: 'Cohere', model, apiKey, secrets, keyVariable: 'COHERE_API_KEY', timeoutMs };
  assertValidAccess(service, baseUrl);
  const { CohereClientV2: Client } = await import('cohere-ai');
  const client = new Client({
    token: apiKey,
    // The client appends the API version.
    environment: baseUrl.replace(/\/+(v[12]\/*)?$/, ''),
    maxRetries: 0,
    fetcher: async <R>({ url, headers, body, abortSignal: signal }: FetchArguments) => {
      const answer = await postJson({ url, headers: stringHeaders(headers), body, signal }, service);
      if (!answerSchema.safeParse(answer).success) throw unusableAnswer(service, 'it has an unexpected form');
      return { ok: true, body: answer as R, rawResponse: RAW_RESPONSE };
    },
  });
  return { service, client };
}

type ClientOptions = ConstructorParameters<typeof CohereClientV2>[0];
type FetchArguments = Parameters<NonNullable<ClientOptions['fetcher']>>[0];

/** Required by the client's types; not used. */
const RAW_RESPONSE = {
  headers: new Headers(),
  redirected: false,
  status: 200,
  statusText: 'OK',
  type: 'default',
  url: '',
} as const;

function stringHeaders(headers: Record<string, unknown> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
