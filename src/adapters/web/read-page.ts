import { AppError } from '../../domain/app-error.ts';
import type { MediaType, RawDocument } from '../../domain/document.ts';
import { mediaTypeOf, mediaTypeOfContentType } from '../documents/media-type.ts';
import { linksOf } from './links.ts';
import { createPace } from './pace.ts';
import type { Robots } from './robots.ts';
import type { FetchedResource, SafeFetch } from './safe-fetch.ts';
import { asUtf8 } from './text-encoding.ts';

/** Why a page is left out without being a failure. */
export type SkipReason = 'type' | 'robots' | 'noindex';

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
