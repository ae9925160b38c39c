import type { Agent, Response } from 'undici';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { classifyNetworkCode, errorCauses, findNetworkCode, getField } from '../../faults/network-errors.ts';
import { parseRetryAfter, startRetries } from '../../faults/retry.ts';
import { classifyHttpStatus } from '../../faults/service-errors.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { createAddressGuard, type ResolveHost } from './address-guard.ts';
import { parseWebUrl } from './web-url.ts';

export interface SafeFetchOptions {
  userAgent: string;
  /** Whether private addresses are allowed, or for which hosts; default false. */
  allowPrivate?: boolean | ((hostname: string) => boolean);
  /** Replaces the system's resolver; its results are checked too. */
  resolve?: ResolveHost;
  connectTimeoutMs?: number;
  /** Maximum time until the headers, and between two chunks of the body. */
  idleTimeoutMs?: number;
  /** Maximum time of one response. */
  totalTimeoutMs?: number;
  retries?: number;
  /** Delay before the first retry; it doubles each time. */
  retryDelayMs?: number;
  runtime?: Pick<Runtime, 'sleep' | 'random'>;
}

interface FetchRequest {
  /** Maximum size of the decompressed body. */
  maxBytes: number;
  signal?: AbortSignal;
  /** Truncates a longer body instead of throwing. */
  truncate?: boolean;
  /** Returns responses with a status of 400 and above instead of throwing. */
  anyStatus?: boolean;
  /** Called before each redirect; its error ends the request. */
  admit?: (url: URL) => Promise<void>;
  /** Whether to read the body; if not, `bytes` is null. */
  wants?: (contentType: string, url: URL) => boolean;
}

export interface FetchedResource {
  url: URL;
  status: number;
  headers: Response['headers'];
  bytes: Uint8Array | null;
}

export interface SafeFetch {
  /** Throws an AppError, or the signal's reason if it is aborted. */
  fetch(url: URL, request: FetchRequest): Promise<FetchedResource>;
  close(): Promise<void>;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
/** A longer Retry-After is not waited for. */
const MAX_WAIT_MS = 30_000;

/** GET requests for untrusted URLs: only public addresses, limited time and size, each redirect checked. */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { userAgent, connectTimeoutMs = 10_000, idleTimeoutMs = 20_000, totalTimeoutMs = 60_000 } = options;
  const guard = createAddressGuard(options);
  let agent: Agent | undefined;

  async function fetchFollowing(start: URL, request: FetchRequest): Promise<FetchedResource> {
    request.signal?.throwIfAborted();
    let url = start;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      guard.checkHost(url.hostname);
      await request.admit?.(url);
      const resource = await fetchRetrying(url, request);
      const location = REDIRECTS.has(resource.status) ? resource.headers.get('location') : null;
      if (location === null) {
        if (resource.status < 400 || request.anyStatus) return resource;
        throw statusError(url, resource);
      }
      url = parseWebUrl(location, url);
    }
    throw new AppError('api_error', `${start.href} redirects more than ${MAX_REDIRECTS} times.`);
  }

  async function fetchRetrying(url: URL, request: FetchRequest): Promise<FetchedResource> {
    const retries = startRetries({
      maxRetries: options.retries ?? 2,
      firstWaitMs: options.retryDelayMs,
      longestWaitMs: MAX_WAIT_MS,
      sleep: options.runtime?.sleep,
      random: options.runtime?.random,
      signal: request.signal,
    });
    for (;;) {
      try {
        const resource = await fetchOnce(url, request);
        if (resource.status !== 429 && resource.status !== 503) return resource;
        if (!(await retries.waitAfter(statusError(url, resource)))) return resource;
      } catch (error) {
        request.signal?.throwIfAborted();
        const appError = toWebError(url.href, error);
        if (!isTransient(error) || !(await retries.waitAfter(appError))) throw appError;
      }
    }
  }

  function statusError(url: URL, { status, headers }: FetchedResource): AppError {
    return toHttpStatusError(url.href, status, parseRetryAfter(headers));
  }

  async function fetchOnce(url: URL, request: FetchRequest): Promise<FetchedResource> {
    const { Agent, fetch } = await import('undici');
    agent ??= new Agent({
      connect: { lookup: guard.lookup, timeout: connectTimeoutMs },
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
    });
    const timeout = AbortSignal.timeout(totalTimeoutMs);
    const response = await fetch(url, {
      dispatcher: agent,
      redirect: 'manual',
      headers: { 'user-agent': userAgent },
      signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
    });
    const { status, headers } = response;
    const isBodyRead = status < 300 && (request.wants?.(headers.get('content-type') ?? '', url) ?? true);
    if (!isBodyRead) await response.body?.cancel();
    return { url, status, headers, bytes: isBodyRead ? await readBody(response, url, request) : null };
  }

  return {
    fetch: fetchFollowing,
    async close() {
      await agent?.destroy();
      agent = undefined;
    },
  };
}

/** Reads a body up to the limit, whatever its Content-Length says. */
async function readBody(response: Response, url: URL, limits: FetchRequest): Promise<Uint8Array> {
  const { body } = response;
  if (body === null) return new Uint8Array();
  if (Number(response.headers.get('content-length')) > limits.maxBytes && !limits.truncate) {
    await body.cancel();
    throw tooLarge(url, limits.maxBytes);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the download.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= limits.maxBytes) continue;
    if (!limits.truncate) throw tooLarge(url, limits.maxBytes);
    break;
  }
  return new Uint8Array(Buffer.concat(chunks, Math.min(size, limits.maxBytes)));
}

function tooLarge(url: URL, maxBytes: number): AppError {
  const limit = maxBytes < 1024 * 1024 ? `${maxBytes} bytes` : `${(maxBytes / 1024 / 1024).toFixed(1)} MB`;
  return new AppError('invalid_input', `${url.href} is too large: the limit is ${limit}.`);
}

function isTransient(error: unknown): boolean {
  return !(error instanceof AppError) && classifyNetworkCode(networkErrorCode(error))?.duration === 'moment';
}

/** Any error of a request as an AppError; AppErrors among its causes are returned unchanged. */
function toWebError(url: string, error: unknown): AppError {
  const own = errorCauses(error).find((each) => each instanceof AppError);
  if (own !== undefined) return own;
  const code = networkErrorCode(error);
  const fault = classifyNetworkCode(code);
  const passes = fault !== undefined && fault.duration !== 'lasting';
  return new AppError('api_error', `${url} cannot be read: ${describeReason(error, code)}.`, {
    hint: passes ? 'Try again later, or check the address.' : 'Check the address.',
    recoverable: passes,
    cause: error,
  });
}

export function toHttpStatusError(url: string, status: number, retryAfter?: number): AppError {
  const { reason, transient } = classifyHttpStatus(status);
  return new AppError('api_error', `${url} returned HTTP ${status}${reason && `, ${reason}`}.`, {
    hint: transient ? 'Try again later.' : 'Check the address, or the page that links to it.',
    recoverable: transient,
    retryAfter,
  });
}

/** The reason by the error code; TLS errors include their message. */
function describeReason(error: unknown, code: string | undefined): string {
  const innermost = (messageOf(errorCauses(error).at(-1)).split('\n', 1)[0] ?? '').replace(/\.$/, '');
  const { predicate } = classifyNetworkCode(code) ?? {};
  if (predicate === undefined) return innermost;
  return `the server ${predicate}${/TLS/.test(predicate) ? ` (${innermost})` : ''}`;
}

function networkErrorCode(error: unknown): string | undefined {
  const isTimeout = errorCauses(error).some((each) => getField(each, 'name') === 'TimeoutError');
  return isTimeout ? 'TIMEOUT' : findNetworkCode(error);
}
