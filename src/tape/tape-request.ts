import { tapeBody, textBody } from './tape-body.ts';
import type { TapeRequest } from './tape-format.ts';

export type Fetch = typeof globalThis.fetch;
type FetchArguments = Parameters<Fetch>;

/**
 * What a call of `fetch` asks for, and the arguments to make it with: reading a body that is a stream uses it up. The
 * arguments are the caller's own wherever that can be, since they may hold what a Request does not carry.
 */
export async function tapeRequest(
  ...[input, init]: FetchArguments
): Promise<{ request: TapeRequest; call: FetchArguments }> {
  const body: unknown = init?.body;
  if (!(input instanceof Request) && isPlain(body)) {
    const headers = new Headers(init?.headers);
    return {
      request: {
        method: (init?.method ?? 'GET').toUpperCase(),
        url: new URL(input).href,
        headers: Object.fromEntries(headers),
        ...bodyField(body, headers.get('content-type')),
      },
      call: [input, init],
    };
  }
  const request = new Request(input, init);
  return { request: await requestOf(request.clone()), call: [request] };
}

/** Uses up the body. */
export async function requestOf(request: Request): Promise<TapeRequest> {
  const body = tapeBody(await request.bytes(), request.headers.get('content-type'));
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    ...(body && { body }),
  };
}

function isPlain(body: unknown): body is string | Uint8Array | URLSearchParams | null | undefined {
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    body instanceof URLSearchParams
  );
}

function bodyField(
  body: string | Uint8Array | URLSearchParams | null | undefined,
  contentType: string | null,
): Pick<TapeRequest, 'body'> {
  if (body === undefined || body === null) return {};
  if (body instanceof Uint8Array) {
    const held = tapeBody(body, contentType);
    return held ? { body: held } : {};
  }
  const text = String(body);
  return text === '' ? {} : { body: textBody(text, contentType) };
}
