import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaType, RawDocument } from '../../domain/document.ts';
import { AppError } from '../../faults/app-error.ts';
import { mediaTypeOfContentType, mediaTypeOfPath } from '../documents/media-type.ts';
import type { LinkExtractor } from './extract-links.ts';
import type { FindRobotsRules } from './robots.ts';
import type { FetchedResource, SafeFetch } from './safe-fetch.ts';

/** The result for one URL; `url` is the one after redirects. */
export type CrawledPage =
  | { kind: 'document'; url: URL; canonical: URL | null; links: URL[]; document: RawDocument }
  | { kind: 'skipped'; url: URL; reason: 'robots' | 'noindex'; links: URL[] }
  | { kind: 'skipped'; url: URL; reason: 'type'; links: URL[]; error: AppError }
  | { kind: 'failed'; url: URL; error: AppError };

interface PageReaderOptions {
  web: Pick<SafeFetch, 'fetch'>;
  robots: FindRobotsRules;
  maxBytes: number;
  extractLinks: LinkExtractor;
}

interface PageRequest {
  signal: AbortSignal;
  maxBytes?: number;
  /** Also reads XML and gzip, which may be sitemaps. */
  mayBeSitemap?: boolean;
}

const MAY_BE_SITEMAP = /xml|gzip|octet-stream|^$/i;

export interface PageReader {
  /** Fetches as robots.txt allows, with its crawl delay. Throws an AppError. */
  fetch(url: URL, options: PageRequest): Promise<FetchedResource>;
  /** Fetches and parses a page; throws only if the signal is aborted. */
  read(url: URL, signal: AbortSignal): Promise<CrawledPage>;
  toPage(resource: FetchedResource, signal: AbortSignal): Promise<CrawledPage>;
}

/** Reads single pages and obeys robots.txt. */
export function createPageReader(options: PageReaderOptions): PageReader {
  const { web, robots, maxBytes, extractLinks } = options;
  const waitForTurn = createPacer();

  async function admit(url: URL, signal: AbortSignal): Promise<void> {
    const { allows, delay, error } = await robots(url, signal);
    if (!allows(url)) throw error ?? new RobotsDisallowedError(url);
    await waitForTurn(delay, signal);
  }

  const reader: PageReader = {
    fetch: (url, options) =>
      web.fetch(url, {
        maxBytes: options.maxBytes ?? maxBytes,
        signal: options.signal,
        admit: (hop) => admit(hop, options.signal),
        wants: (contentType, hop) =>
          detectMediaType(contentType, hop) !== null ||
          (options.mayBeSitemap === true && MAY_BE_SITEMAP.test(contentType)),
      }),

    async read(url, signal) {
      try {
        return await reader.toPage(await reader.fetch(url, { signal }), signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AppError)) throw error;
        if (error instanceof RobotsDisallowedError)
          return { kind: 'skipped', url, reason: 'robots', links: [] };
        return { kind: 'failed', url, error };
      }
    },

    async toPage({ url, headers, bytes }, signal) {
      const contentType = headers.get('content-type') ?? '';
      const mediaType = detectMediaType(contentType, url);
      if (mediaType === null || bytes === null) {
        const type = contentType.split(';', 1)[0] || 'unknown';
        const error = new AppError('invalid_input', `${url.href} has the unsupported type ${type}.`);
        return { kind: 'skipped', url, reason: 'type', links: [], error };
      }
      const document = { uri: url.href, mediaType, bytes: toUtf8(bytes, contentType, mediaType) };
      if (mediaType !== 'html') return { kind: 'document', url, canonical: null, links: [], document };
      const robotsTag = headers.get('x-robots-tag') ?? '';
      const found = await extractLinks({ bytes: document.bytes, url: url.href, robotsTag }, signal);
      const links = found.links.map((href) => new URL(href));
      const canonical = found.canonical === null ? null : new URL(found.canonical);
      if (!found.noindex) return { kind: 'document', url, canonical, links, document };
      return { kind: 'skipped', url, reason: 'noindex', links };
    },
  };
  return reader;
}

/** Servers often send Markdown as plain text and PDF as bytes; then the extension decides. */
function detectMediaType(contentType: string, url: URL): MediaType | null {
  const named = mediaTypeOfContentType(contentType);
  const isVague = named === 'text' || /^(\s*|application\/octet-stream\b.*)$/i.test(contentType);
  return isVague ? (mediaTypeOfPath(url.pathname) ?? named) : named;
}

class RobotsDisallowedError extends AppError {
  constructor(url: URL) {
    super('invalid_input', `${url.href} is disallowed by the robots.txt of the site.`);
  }
}

/** Waits until `seconds` have passed since the previous call started. Throws the signal's reason if it is aborted. */
function createPacer() {
  let next = 0;
  return async (seconds: number, signal: AbortSignal): Promise<void> => {
    const now = performance.now();
    const turn = Math.max(now, next);
    next = turn + seconds * 1000;
    if (turn > now) await sleep(turn - now, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  };
}

/**
 * Converts text to UTF-8 by the charset of the `Content-Type` header. The byte order mark overrides the encoding that the
 * document declares.
 */
function toUtf8(bytes: Uint8Array, contentType: string, mediaType: MediaType): Uint8Array {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (charset === undefined || mediaType === 'pdf' || /^utf-?8$/i.test(charset)) return bytes;
  try {
    return new TextEncoder().encode(`\ufeff${new TextDecoder(charset).decode(bytes)}`);
  } catch {
    // Unknown charset: the document may declare its encoding.
    return bytes;
  }
}
