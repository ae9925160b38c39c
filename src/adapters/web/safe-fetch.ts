import type { Agent, Response } from 'undici';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { causesOf, fieldOf, networkCodeOf, networkFault } from '../../faults/network-fault.ts';
import { retryAfterOf, startRetries } from '../../faults/retry.ts';
import { httpFault } from '../../faults/service-fault.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { createAddressGuard, type Resolve } from './address-guard.ts';
import { parseWebUrl } from './web-url.ts';

export interface SafeFetchOptions {
  userAgent: string;
  /** Whether private networks may be reached, or for which hosts; default false. */
  allowPrivate?: boolean | ((hostname: string) => boolean);
  /** Replaces the system's resolver; what it returns is checked all the same. */
  resolve?: Resolve;
  connectTimeoutMs?: number;
  /** How long a server may take until its headers, and between two pieces of its body. */
  idleTimeoutMs?: number;
  /** How long one answer may take as a whole. */
  totalTimeoutMs?: number;
  maxRedirects?: number;
  retries?: number;
  /** The pause before the first retry; it doubles each time. */
  retryDelayMs?: number;
  /** Whose time is waited before a retry; the machine's unless given. */
  runtime?: Pick<Runtime, 'sleep' | 'random'>;
}

interface FetchRequest {
  /** The most that is kept of a body, after decompression. */
  maxBytes: number;
  signal?: AbortSignal;
  /** Cuts a longer body instead of refusing it. */
  truncate?: boolean;
  /** Returns answers with a status of 400 and above instead of throwing. */
  anyStatus?: boolean;
  /** Called before each hop; what it throws ends the request. */
  admit?: (url: URL) => Promise<void>;
  /** Decides by the headers whether the body is read; if not, `bytes` is null. */
  wants?: (contentType: string, url: URL) => boolean;
}

export interface FetchedResource {
  /** After redirects. */
  url: URL;
  status: number;
  headers: Response['headers'];
  bytes: Uint8Array | null;
}

export interface SafeFetch {
  /** Throws an AppError, or the signal's reason when that was aborted. */
  fetch(url: URL, request: FetchRequest): Promise<FetchedResource>;
  close(): Promise<void>;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Whoever asks for more gets no second attempt. */
const LONGEST_WAIT_MS = 30_000;

/** A GET for URLs that nobody vouches for: guarded addresses, bounded time and size, redirects checked anew. */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { userAgent, maxRedirects = 5 } = options;
  const { connectTimeoutMs = 10_000, idleTimeoutMs = 20_000, totalTimeoutMs = 60_000 } = options;
  const guard = createAddressGuard({
    allowPrivate: options.allowPrivate ?? false,
    ...(options.resolve && { resolve: options.resolve }),
  });
  let agent: Agent | undefined;

  async function fetchFollowing(start: URL, request: FetchRequest): Promise<FetchedResource> {
    let url = start;
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      guard.checkHost(url.hostname);
      await request.admit?.(url);
      const resource = await fetchRetrying(url, request);
      const location = REDIRECTS.has(resource.status) ? resource.headers.get('location') : null;
      if (location === null) {
        if (resource.status < 400 || request.anyStatus) return resource;
        throw faultOf(url, resource);
      }
      url = parseWebUrl(location, url);
    }
    throw new AppError('api_error', `${start.href} redirects more than ${maxRedirects} times.`);
  }

  async function fetchRetrying(url: URL, request: FetchRequest): Promise<FetchedResource> {
    const retries = startRetries({
      maxRetries: options.retries ?? 2,
      firstWaitMs: options.retryDelayMs,
      longestWaitMs: LONGEST_WAIT_MS,
      sleep: options.runtime?.sleep,
      random: options.runtime?.random,
      signal: request.signal,
    });
    for (;;) {
      try {
        const resource = await fetchOnce(url, request);
        if (resource.status !== 429 && resource.status !== 503) return resource;
        if (!(await retries.waitAfter(faultOf(url, resource)))) return resource;
      } catch (error) {
        request.signal?.throwIfAborted();
        const fault = webFault(url.href, error);
        if (!isTransient(error) || !(await retries.waitAfter(fault))) throw fault;
      }
    }
  }

  function faultOf(url: URL, { status, headers }: FetchedResource): AppError {
    return statusFault(url.href, status, retryAfterOf(headers));
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
    async fetch(url, request) {
      request.signal?.throwIfAborted();
      return fetchFollowing(url, request);
    },
    async close() {
      await agent?.destroy();
      agent = undefined;
    },
  };
}

interface Bounds {
  maxBytes: number;
  truncate?: boolean;
}

/** Reads a body piece by piece and stops at the bound, whatever the headers promised. */
async function readBody(response: Response, url: URL, bounds: Bounds): Promise<Uint8Array> {
  const { body } = response;
  if (body === null) return new Uint8Array();
  if (Number(response.headers.get('content-length')) > bounds.maxBytes && !bounds.truncate) {
    await body.cancel();
    throw tooLarge(url, bounds.maxBytes);
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream and with it the download.
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    pieces.push(piece);
    size += piece.length;
    if (size <= bounds.maxBytes) continue;
    if (!bounds.truncate) throw tooLarge(url, bounds.maxBytes);
    break;
  }
  return new Uint8Array(Buffer.concat(pieces, Math.min(size, bounds.maxBytes)));
}

function tooLarge(url: URL, maxBytes: number): AppError {
  const limit = maxBytes < 1024 * 1024 ? `${maxBytes} bytes` : `${(maxBytes / 1024 / 1024).toFixed(1)} MB`;
  return new AppError('invalid_input', `${url.href} is too large: the limit is ${limit}.`);
}

/** Whether a fault of the network is worth another attempt at once. */
function isTransient(error: unknown): boolean {
  return !(error instanceof AppError) && networkFault(codeOf(error))?.duration === 'moment';
}

/** Anything that a request threw, as one plain sentence. A fault that we raised ourselves stays as it is. */
function webFault(url: string, error: unknown): AppError {
  const own = causesOf(error).find((each) => each instanceof AppError);
  if (own !== undefined) return own;
  const code = codeOf(error);
  const fault = networkFault(code);
  const passes = fault !== undefined && fault.duration !== 'lasting';
  return new AppError('api_error', `${url} cannot be read: ${reasonOf(error, code)}.`, {
    hint: passes ? 'Try again later, or check the address.' : 'Check the address.',
    recoverable: passes,
    cause: error,
  });
}

/** An answer with a status of 400 or above. */
export function statusFault(url: string, status: number, retryAfter?: number): AppError {
  const { reason, transient } = httpFault(status);
  return new AppError('api_error', `${url} answered with HTTP ${status}${reason && `, ${reason}`}.`, {
    hint: transient ? 'Try again later.' : 'Check the address, or the page that links to it.',
    recoverable: transient,
    retryAfter,
  });
}

/** With its own words where the code alone says little. */
function reasonOf(error: unknown, code: string | undefined): string {
  const innermost = (messageOf(causesOf(error).at(-1)).split('\n', 1)[0] ?? '').replace(/\.$/, '');
  const reason = networkFault(code)?.reason ?? innermost;
  return /TLS/.test(reason) ? `${reason} (${innermost})` : reason;
}

function codeOf(error: unknown): string | undefined {
  const tookTooLong = causesOf(error).some((each) => fieldOf(each, 'name') === 'TimeoutError');
  return tookTooLong ? 'TIMEOUT' : networkCodeOf(error);
}
