import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Advice, advice } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { childElements, childText, parseXml, type XmlElement } from '../documents/xml.ts';
import { parseWebUrl } from './web-url.ts';

interface Sitemap {
  pages: string[];
  /** Of an index. */
  sitemaps: string[];
}

/** The limit of the protocol for an unpacked sitemap. */
export const MAX_SITEMAP_BYTES = 50 * 1024 * 1024;

/** Whether a resource is a sitemap, by its extension or its first bytes. */
export function isSitemap(url: URL, bytes: Uint8Array): boolean {
  if (/\.xml(\.gz)?$/i.test(url.pathname)) return true;
  const opening = new TextDecoder().decode(bytes.subarray(0, 4096));
  return /^\s*</.test(opening) && /<(\w+:)?(urlset|sitemapindex)\b/.test(opening) && !/<html/i.test(opening);
}

/** Parses a sitemap or a sitemap index. Throws `invalid_input` for anything else. */
export async function parseSitemap(bytes: Uint8Array, url: URL): Promise<Sitemap> {
  const xml = readXml(await unzip(bytes, url), url);
  const [list] = [...childElements(xml, 'urlset'), ...childElements(xml, 'sitemapindex')];
  if (list === undefined) throw sitemapError(url, 'it lists neither pages nor sitemaps');
  const locationsOf = (item: string) =>
    childElements(list, item).flatMap((each) => childText(each, 'loc') || []);
  return { pages: locationsOf('url'), sitemaps: locationsOf('sitemap') };
}

function readXml(bytes: Uint8Array, url: URL): XmlElement {
  try {
    return parseXml(bytes, url.href);
  } catch (cause) {
    throw sitemapError(url, messageOf(cause), cause);
  }
}

async function unzip(bytes: Uint8Array, url: URL): Promise<Uint8Array> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!isGzip) return bytes;
  return promisify(gunzip)(bytes, { maxOutputLength: MAX_SITEMAP_BYTES }).catch((cause: unknown) => {
    throw sitemapError(url, 'it cannot be unpacked, or is too large', cause);
  });
}

function sitemapError(url: URL, reason: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `${url.href} cannot be used as a sitemap: ${reason}.`, { cause });
}

const MAX_SITEMAPS = 50;

interface CollectOptions {
  load(url: URL): Promise<Uint8Array>;
  /** One more page is collected, which shows that there are more. */
  maxPages: number;
  signal?: AbortSignal;
  onIncomplete(notice: Advice): void;
}

/** The unique pages of a sitemap and its nested sitemaps on the same origin, in order. */
export async function collectSitemapPages(
  first: Sitemap,
  start: URL,
  options: CollectOptions,
): Promise<URL[]> {
  const pages = new Map<string, URL>();
  const visited = new Set([start.href]);

  async function collect(sitemap: Sitemap, base: URL): Promise<void> {
    const sameOriginUrls = (locations: string[]) =>
      locations.flatMap((location) => sameOrigin(location, base, start) ?? []);
    for (const url of sameOriginUrls(sitemap.pages)) {
      if (pages.size <= options.maxPages) pages.set(url.href, url);
    }
    for (const url of sameOriginUrls(sitemap.sitemaps)) {
      if (pages.size <= options.maxPages) await collectNested(url);
    }
  }

  async function collectNested(url: URL): Promise<void> {
    if (visited.has(url.href)) return;
    if (visited.size >= MAX_SITEMAPS) {
      options.onIncomplete(advice`skipped the sitemap ${url.href}: too many nested sitemaps`);
      return;
    }
    visited.add(url.href);
    let nested: Sitemap;
    try {
      nested = await parseSitemap(await options.load(url), url);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      options.onIncomplete(advice`skipped the sitemap ${url.href}: ${messageOf(error)}`);
      return;
    }
    await collect(nested, url);
  }

  await collect(first, start);
  return [...pages.values()];
}

function sameOrigin(location: string, base: URL, start: URL): URL | null {
  try {
    const url = parseWebUrl(location, base);
    return url.origin === start.origin ? url : null;
  } catch {
    return null;
  }
}
