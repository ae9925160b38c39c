import type { CohereClientV2 } from 'cohere-ai';
import type * as z from 'zod';
import { checkAccess, postJson, type Service, unusableAnswer } from '../hosted/json-service.ts';

const COHERE_URL = 'https://api.cohere.com';

export interface CohereOptions {
  apiKey: string;
  /** Where requests go instead of Cohere itself: a proxy, or a private deployment. */
  baseUrl?: string | undefined;
  /** For one request. */
  timeoutMs: number;
  /** The keys of other services; no sentence shows them. */
  secrets?: readonly string[] | undefined;
}

export function cohereService(
  { apiKey, baseUrl = COHERE_URL, timeoutMs, secrets }: CohereOptions,
  model: string,
): Service {
  const service = { name: 'Cohere', model, apiKey, secrets, keyVariable: 'COHERE_API_KEY', timeoutMs };
  checkAccess(service, baseUrl);
  return service;
}

/**
 * Cohere's client with our own transport under it, which makes one attempt and throws AppErrors. The client's
 * transport leaves its timer running after a failed request, so that the process would not end before it fires
 * (300 s by default), does not limit how long a body takes, and tells a time limit from other faults by text
 * alone. The schema is held against the answer before the client reads it: its reader prints what it does not
 * understand.
 */
export async function createCohereClient(
  { apiKey, baseUrl = COHERE_URL }: CohereOptions,
  service: Service,
  answerSchema: z.ZodType,
): Promise<CohereClientV2> {
  const { CohereClientV2: Client } = await import('cohere-ai');
  return new Client({
    token: apiKey,
    // The client adds the version of the API itself.
    environment: baseUrl.replace(/\/+(v[12]\/*)?$/, ''),
    maxRetries: 0,
    fetcher: async <R>({ url, headers, body, abortSignal: signal }: FetchArguments) => {
      const answer = await postJson({ url, headers: textsOf(headers), body, signal }, service);
      if (!answerSchema.safeParse(answer).success) throw unusableAnswer(service, 'it has another form');
      return { ok: true, body: answer as R, rawResponse: RAW_RESPONSE };
    },
  });
}

type ClientOptions = ConstructorParameters<typeof CohereClientV2>[0];
type FetchArguments = Parameters<NonNullable<ClientOptions['fetcher']>>[0];

/** The client hands this on to whoever asks for it; nobody does. */
const RAW_RESPONSE = {
  headers: new Headers(),
  redirected: false,
  status: 200,
  statusText: 'OK',
  type: 'default',
  url: '',
} as const;

function textsOf(headers: Record<string, unknown> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
