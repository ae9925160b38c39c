import { setTimeout as sleep } from 'node:timers/promises';
import type { Element, Root } from 'hast';
import rehypeParse from 'rehype-parse';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import type { MediaType, RawDocument } from '../../domain/document.ts';
import { AppError } from '../../faults/app-error.ts';
import { mediaTypeOf, mediaTypeOfContentType } from '../documents/media-type.ts';
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

/** What a page says about itself and where it leads. */
interface PageLinks {
  /** Pages of the same origin, without fragments, each once, in the order of the page. */
  links: URL[];
  /** The address that the page gives as its own, when that is on the same origin. */
  canonical: URL | null;
  /** The page asks not to be indexed. */
  noindex: boolean;
}

const NOTHING: PageLinks = { links: [], canonical: null, noindex: false };

/**
 * Reads the links of an HTML page. `nofollow`, on a link or for the page, is respected, and so is `base`.
 * `robotsTag` is the `X-Robots-Tag` header, which says the same as a meta element.
 */
export function linksOf(html: string, url: URL, robotsTag = ''): PageLinks {
  const elements = elementsOf(html);
  if (elements === null) return NOTHING;
  const base = baseOf(elements, url);
  const directives = directivesOf(elements, robotsTag);
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

/** All elements in the order of the page; null for one nested so deeply that it cannot be walked. */
function elementsOf(html: string): Element[] | null {
  const elements: Element[] = [];
  try {
    const tree: Root = unified().use(rehypeParse).parse(html);
    visit(tree, 'element', (element) => {
      elements.push(element);
    });
    return elements;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function baseOf(elements: Element[], url: URL): URL {
  const base = elements.find((element) => element.tagName === 'base' && attribute(element, 'href') !== '');
  return (base && URL.parse(attribute(base, 'href'), url.href)) ?? url;
}

function directivesOf(elements: Element[], robotsTag: string): Set<string> {
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
