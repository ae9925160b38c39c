import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { XMLParser } from 'fast-xml-parser';
import { type Advice, advice } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { parseWebUrl } from './web-url.ts';

interface Sitemap {
  /** An index lists further sitemaps, a urlset lists pages. */
  kind: 'index' | 'urlset';
  locations: string[];
}

/** The limit of the protocol for an unpacked sitemap. */
export const MAX_SITEMAP_BYTES = 50 * 1024 * 1024;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Whether a resource is a sitemap, by its extension or its first bytes. */
export function isSitemap(url: URL, bytes: Uint8Array): boolean {
  if (/\.xml(\.gz)?$/i.test(url.pathname)) return true;
  const opening = new TextDecoder().decode(bytes.subarray(0, 4096));
  return /^\s*</.test(opening) && /<(\w+:)?(urlset|sitemapindex)\b/.test(opening) && !/<html/i.test(opening);
}

/** Parses a sitemap or a sitemap index. Throws `invalid_input` for anything else. */
export async function parseSitemap(bytes: Uint8Array, url: URL): Promise<Sitemap> {
  const text = new TextDecoder().decode(await unzip(bytes, url));
  // A DTD could define endlessly expanding entities.
  if (/<!DOCTYPE/i.test(text)) throw sitemapError(url, 'it has a DTD');
  const { urlset, sitemapindex } = parseXml(text, url);
  if (urlset !== undefined) return { kind: 'urlset', locations: listLocations(urlset, 'url') };
  if (sitemapindex !== undefined) return { kind: 'index', locations: listLocations(sitemapindex, 'sitemap') };
  throw sitemapError(url, 'it lists neither pages nor sitemaps');
}

function parseXml(text: string, url: URL): Record<string, unknown> {
  const parser = new XMLParser({
    processEntities: false,
    parseTagValue: false,
    removeNSPrefix: true,
    isArray: (name) => name === 'url' || name === 'sitemap',
  });
  try {
    return parser.parse(text, true);
  } catch (cause) {
    throw sitemapError(url, `it is not well-formed XML (${messageOf(cause)})`, cause);
  }
}

function listLocations(list: unknown, item: string): string[] {
  const items: unknown = isRecord(list) ? list[item] : undefined;
  if (!Array.isArray(items)) return [];
  return items.flatMap((each: unknown) =>
    isRecord(each) && typeof each.loc === 'string' ? [decodeEntities(each.loc.trim())] : [],
  );
}

/** Decodes the five XML entities and numeric ones; others are kept. */
function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

async function unzip(bytes: Uint8Array, url: URL): Promise<Uint8Array> {
  if (!isGzip(bytes)) return bytes;
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_SITEMAP_BYTES });
  } catch (cause) {
    throw sitemapError(url, 'it cannot be unpacked, or is too large', cause);
  }
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function sitemapError(url: URL, reason: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `${url.href} cannot be used as a sitemap: ${reason}.`, { cause });
}

const MAX_SITEMAPS = 50;
const MAX_DEPTH = 3;

interface CollectOptions {
  /** Fetches one nested sitemap. */
  load(url: URL): Promise<Uint8Array>;
  /** One more page is collected, which shows that there are more. */
  maxPages: number;
  signal?: AbortSignal;
  /** Called for each skipped sitemap. */
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

  async function collect(sitemap: Sitemap, base: URL, depth: number): Promise<void> {
    for (const location of sitemap.locations) {
      const url = sameOrigin(location, base, start);
      if (url === null) continue;
      if (sitemap.kind === 'index') await collectNested(url, depth + 1);
      else if (pages.size <= options.maxPages) pages.set(url.href, url);
      if (pages.size > options.maxPages) return;
    }
  }

  async function collectNested(url: URL, depth: number): Promise<void> {
    if (visited.has(url.href)) return;
    if (depth > MAX_DEPTH || visited.size >= MAX_SITEMAPS) {
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
    await collect(nested, url, depth);
  }

  await collect(first, start, 0);
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
