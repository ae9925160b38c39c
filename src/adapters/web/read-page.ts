import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaType, RawDocument } from '../../domain/document.ts';
import { AppError } from '../../faults/app-error.ts';
import { mediaTypeOf, mediaTypeOfContentType } from '../documents/media-type.ts';
import { linksOf } from './links.ts';
import type { Robots } from './robots.ts';
import type { FetchedResource, SafeFetch } from './safe-fetch.ts';

/** Why a page is left out without being a failure. */
type SkipReason = 'type' | 'robots' | 'noindex';

/** What came of one URL. `url` is the one after redirects. */
export type Page =
  | { kind: 'document'; url: URL; canonical: URL | null; links: URL[]; document: RawDocument }
  | { kind: 'skipped'; url: URL; reason: SkipReason; links: URL[]; error: AppError }
  | { kind: 'failed'; url: URL; error: AppError };

interface PageReaderOptions {
  web: Pick<SafeFetch, 'fetch'>;
  robots: Robots;
  maxBytes: number;
}

interface PageRequest {
  signal: AbortSignal;
  maxBytes?: number;
  /** Reads XML and archives too, which are no documents but may be sitemaps. */
  mayBeSitemap?: boolean;
}

const MAY_BE_SITEMAP = /xml|gzip|octet-stream|^$/i;

export interface PageReader {
  /** Fetches as robots.txt allows, and no faster. Throws an AppError. */
  fetch(url: URL, options: PageRequest): Promise<FetchedResource>;
  /** Fetches a page and reads it; only an aborted signal throws. */
  read(url: URL, signal: AbortSignal): Promise<Page>;
  /** Reads what was fetched. */
  toPage(resource: FetchedResource): Page;
}

/** Reads single pages of a site, with its manners. */
export function createPageReader({ web, robots, maxBytes }: PageReaderOptions): PageReader {
  const pace = createPace();

  async function admit(url: URL, signal: AbortSignal): Promise<void> {
    if (!(await robots.allows(url, signal))) {
      throw (await robots.faultOf(url, signal)) ?? new RobotsRefusal(url);
    }
    await pace(await robots.delayOf(url, signal), signal);
  }

  const reader: PageReader = {
    fetch: (url, options) =>
      web.fetch(url, {
        maxBytes: options.maxBytes ?? maxBytes,
        signal: options.signal,
        admit: (hop) => admit(hop, options.signal),
        wants: (contentType, hop) =>
          formatOf(contentType, hop) !== null ||
          (options.mayBeSitemap === true && MAY_BE_SITEMAP.test(contentType)),
      }),

    async read(url, signal) {
      try {
        return reader.toPage(await reader.fetch(url, { signal }));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AppError)) throw error;
        if (error instanceof RobotsRefusal)
          return { kind: 'skipped', url, reason: 'robots', links: [], error };
        return { kind: 'failed', url, error };
      }
    },

    toPage({ url, headers, bytes }) {
      const contentType = headers.get('content-type') ?? '';
      const mediaType = formatOf(contentType, url);
      if (mediaType === null || bytes === null) {
        const error = unsupported(url, contentType);
        return { kind: 'skipped', url, reason: 'type', links: [], error };
      }
      const document = { uri: url.href, mediaType, bytes: asUtf8(bytes, contentType, mediaType) };
      if (mediaType !== 'html') return { kind: 'document', url, canonical: null, links: [], document };
      const html = new TextDecoder().decode(document.bytes);
      const { links, canonical, noindex } = linksOf(html, url, headers.get('x-robots-tag') ?? '');
      if (!noindex) return { kind: 'document', url, canonical, links, document };
      return { kind: 'skipped', url, reason: 'noindex', links, error: notIndexed(url) };
    },
  };
  return reader;
}

/** Servers often call a Markdown file plain text and a PDF a stream of bytes; then the name tells more. */
function formatOf(contentType: string, url: URL): MediaType | null {
  const named = mediaTypeOfContentType(contentType);
  const isVague = named === 'text' || /^(\s*|application\/octet-stream\b.*)$/i.test(contentType);
  return isVague ? (mediaTypeOf(url.pathname) ?? named) : named;
}

class RobotsRefusal extends AppError {
  constructor(url: URL) {
    super('invalid_input', `${url.href} may not be read: the robots.txt of the site forbids it.`);
  }
}

function unsupported(url: URL, contentType: string): AppError {
  const type = contentType.split(';', 1)[0] || 'of an unknown type';
  return new AppError('invalid_input', `${url.href} is ${type}, which is not supported.`);
}

function notIndexed(url: URL): AppError {
  return new AppError('invalid_input', `${url.href} asks not to be indexed.`);
}

/** Waits until at least `seconds` have passed since the start of the call before; callers queue up. Throws the signal's reason. */
type Pace = (seconds: number, signal?: AbortSignal) => Promise<void>;

function createPace(): Pace {
  let next = 0;
  return async (seconds, signal) => {
    const now = performance.now();
    const turn = Math.max(now, next);
    next = turn + seconds * 1000;
    if (turn > now) await sleep(turn - now, undefined, signal && { signal }).catch(() => {});
    signal?.throwIfAborted();
  };
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Text whose encoding only the `Content-Type` header knows, as UTF-8. The byte order mark in front overrules
 * what the document may say of its encoding, which is no longer true.
 */
function asUtf8(bytes: Uint8Array, contentType: string, mediaType: MediaType): Uint8Array {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (charset === undefined || mediaType === 'pdf' || /^utf-?8$/i.test(charset)) return bytes;
  try {
    return new TextEncoder().encode(BYTE_ORDER_MARK + new TextDecoder(charset).decode(bytes));
  } catch {
    // An encoding that nobody knows: the bytes may still speak for themselves.
    return bytes;
  }
}
