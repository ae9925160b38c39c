import { AppError } from '../../domain/app-error.ts';
import { httpFault } from './http-fault.ts';
import { networkFault } from './network-fault.ts';
import { lowered, type Service } from './service.ts';

export interface JsonRequest {
  url: string;
  headers: Record<string, string>;
  body: unknown;
  signal?: AbortSignal | undefined;
}

/**
 * One request, one attempt. Throws the signal's reason when it is raised, and AppErrors otherwise. The time limit
 * covers the body too, and its timer keeps no process alive.
 */
export async function postJson(request: JsonRequest, service: Service): Promise<unknown> {
  const { signal } = request;
  signal?.throwIfAborted();
  const limit = AbortSignal.timeout(service.timeoutMs);
  const answer = await send(request, signal === undefined ? limit : AbortSignal.any([signal, limit])).catch(
    (error: unknown) => {
      signal?.throwIfAborted();
      throw networkFault(error, service);
    },
  );
  if (answer.status < 200 || answer.status >= 300) throw httpFault(answer, service);
  try {
    return JSON.parse(answer.text) as unknown;
  } catch {
    throw unusableAnswer(service, 'it is not valid JSON');
  }
}

/** An answer that came, but not as it was promised. A retry may find a server that is whole. */
export function unusableAnswer({ name }: Service, fault: string, recoverable = true): AppError {
  return new AppError('api_error', `The answer of ${lowered(name)} cannot be used: ${fault}.`, {
    recoverable,
    hint: 'Check that the base URL and the model belong together, or try again in a while.',
  });
}

async function send({ url, headers, body }: JsonRequest, signal: AbortSignal) {
  // Looked up at each call, so that whoever replaces the global one is obeyed.
  const response = await globalThis.fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
