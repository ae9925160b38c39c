import { setTimeout as sleep } from 'node:timers/promises';
import type { Element } from 'hast';
import { visit } from 'unist-util-visit';
import type { MediaType, RawDocument } from '../../domain/document.ts';
import { AppError } from '../../faults/app-error.ts';
import { parseHtmlTree } from '../documents/html-tree.ts';
import { mediaTypeOfContentType, mediaTypeOfPath } from '../documents/media-type.ts';
import type { RobotsRules } from './robots.ts';
import type { FetchedResource, SafeFetch } from './safe-fetch.ts';

type SkipReason = 'type' | 'robots' | 'noindex';

/** The result for one URL; `url` is the one after redirects. */
export type CrawledPage =
  | { kind: 'document'; url: URL; canonical: URL | null; links: URL[]; document: RawDocument }
  | { kind: 'skipped'; url: URL; reason: SkipReason; links: URL[]; error: AppError }
  | { kind: 'failed'; url: URL; error: AppError };

interface PageReaderOptions {
  web: Pick<SafeFetch, 'fetch'>;
  robots: RobotsRules;
  maxBytes: number;
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
  toPage(resource: FetchedResource): CrawledPage;
}

/** Reads single pages and obeys robots.txt. */
export function createPageReader({ web, robots, maxBytes }: PageReaderOptions): PageReader {
  const waitForTurn = createPacer();

  async function admit(url: URL, signal: AbortSignal): Promise<void> {
    if (!(await robots.isAllowed(url, signal))) {
      throw (await robots.loadError(url, signal)) ?? new RobotsDisallowedError(url);
    }
    await waitForTurn(await robots.crawlDelay(url, signal), signal);
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
        return reader.toPage(await reader.fetch(url, { signal }));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AppError)) throw error;
        if (error instanceof RobotsDisallowedError)
          return { kind: 'skipped', url, reason: 'robots', links: [], error };
        return { kind: 'failed', url, error };
      }
    },

    toPage({ url, headers, bytes }) {
      const contentType = headers.get('content-type') ?? '';
      const mediaType = detectMediaType(contentType, url);
      if (mediaType === null || bytes === null) {
        const type = contentType.split(';', 1)[0] || 'unknown';
        const error = new AppError('invalid_input', `${url.href} has the unsupported type ${type}.`);
        return { kind: 'skipped', url, reason: 'type', links: [], error };
      }
      const document = { uri: url.href, mediaType, bytes: toUtf8(bytes, contentType, mediaType) };
      if (mediaType !== 'html') return { kind: 'document', url, canonical: null, links: [], document };
      const html = new TextDecoder().decode(document.bytes);
      const { links, canonical, noindex } = extractLinks(html, url, headers.get('x-robots-tag') ?? '');
      if (!noindex) return { kind: 'document', url, canonical, links, document };
      const error = new AppError('invalid_input', `${url.href} is marked noindex.`);
      return { kind: 'skipped', url, reason: 'noindex', links, error };
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

interface PageLinks {
  /** Unique links to the same origin, without fragments, in document order. */
  links: URL[];
  /** The canonical URL if it is on the same origin. */
  canonical: URL | null;
  noindex: boolean;
}

/**
 * Extracts the links of an HTML page. Obeys `nofollow` of links and of the page, and `base`. `robotsTag` is the
 * `X-Robots-Tag` header, which has the same values as the robots meta element.
 */
export function extractLinks(html: string, url: URL, robotsTag = ''): PageLinks {
  const elements = listElements(html);
  if (elements === null) return { links: [], canonical: null, noindex: false };
  const base = baseUrl(elements, url);
  const directives = robotsDirectives(elements, robotsTag);
  const canonical = elements.find((element) => element.tagName === 'link' && hasRel(element, 'canonical'));
  const links = new Map<string, URL>();
  for (const element of directives.has('nofollow') ? [] : elements) {
    if ((element.tagName !== 'a' && element.tagName !== 'area') || hasRel(element, 'nofollow')) continue;
    const target = resolveSameOrigin(attribute(element, 'href'), base, url);
    if (target !== null) links.set(target.href, target);
  }
  return {
    links: [...links.values()],
    canonical: canonical ? resolveSameOrigin(attribute(canonical, 'href'), base, url) : null,
    noindex: directives.has('noindex'),
  };
}

/** All elements in document order; null if the page is nested too deeply. */
function listElements(html: string): Element[] | null {
  const elements: Element[] = [];
  try {
    visit(parseHtmlTree(html), 'element', (element) => {
      elements.push(element);
    });
    return elements;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function baseUrl(elements: Element[], url: URL): URL {
  const base = elements.find((element) => element.tagName === 'base' && attribute(element, 'href') !== '');
  return (base && URL.parse(attribute(base, 'href'), url.href)) ?? url;
}

function robotsDirectives(elements: Element[], robotsTag: string): Set<string> {
  const metas = elements.filter(
    (element) => element.tagName === 'meta' && /^(robots|citeloop)$/i.test(attribute(element, 'name')),
  );
  const texts = [robotsTag, ...metas.map((element) => attribute(element, 'content'))];
  const words = new Set(texts.flatMap((text) => text.toLowerCase().split(/[\s,]+/)));
  return words.has('none') ? new Set(['nofollow', 'noindex']) : words;
}

function resolveSameOrigin(href: string, base: URL, page: URL): URL | null {
  if (href.trim() === '') return null;
  const target = URL.parse(href, base.href);
  if (target === null || target.origin !== page.origin || target.username !== '') return null;
  target.hash = '';
  return target;
}

function hasRel(element: Element, rel: string): boolean {
  const { rel: values } = element.properties;
  return Array.isArray(values) && values.some((value) => String(value).toLowerCase() === rel);
}

function attribute(element: Element, name: string): string {
  const value = element.properties[name];
  return typeof value === 'string' ? value : '';
}
