import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent, Response } from 'undici';
import { AppError } from '../../domain/app-error.ts';
import { retryAfterOf } from '../../domain/retry-after.ts';
import { createAddressGuard, type Resolve } from './address-guard.ts';
import { readBody } from './read-body.ts';
import { httpFault, isTransient, webFault } from './web-fault.ts';
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
}

export interface FetchRequest {
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
const MAX_RETRY_AFTER_SECONDS = 30;

/** A GET for URLs that nobody vouches for: guarded addresses, bounded time and size, redirects checked anew. */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { userAgent, maxRedirects = 5, retries = 2, retryDelayMs = 500 } = options;
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
        throw httpFault(url.href, resource.status, retryAfterOf(resource.headers));
      }
      url = parseWebUrl(location, url);
    }
    throw new AppError('api_error', `${start.href} redirects more than ${maxRedirects} times.`);
  }

  async function fetchRetrying(url: URL, request: FetchRequest): Promise<FetchedResource> {
    for (let attempt = 0; ; attempt += 1) {
      let pause = retryDelayMs * 2 ** attempt;
      try {
        const resource = await fetchOnce(url, request);
        if (attempt === retries || (resource.status !== 429 && resource.status !== 503)) return resource;
        const asked = retryAfterOf(resource.headers);
        if (asked !== undefined && asked > MAX_RETRY_AFTER_SECONDS) return resource;
        pause = asked === undefined ? pause : asked * 1000;
      } catch (error) {
        request.signal?.throwIfAborted();
        if (attempt === retries || !isTransient(error)) throw webFault(url.href, error);
      }
      await sleep(pause, undefined, request.signal && { signal: request.signal }).catch(() => {});
      request.signal?.throwIfAborted();
    }
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
