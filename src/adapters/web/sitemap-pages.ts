import { AppError, messageOf } from '../../domain/app-error.ts';
import { parseSitemap, type Sitemap } from './sitemap.ts';
import { parseWebUrl } from './web-url.ts';

const MAX_SITEMAPS = 50;
const MAX_DEPTH = 3;

interface CollectOptions {
  /** Fetches one nested sitemap. */
  load(url: URL): Promise<Uint8Array>;
  /** One more is collected, so that the caller can tell that there are more. */
  maxPages: number;
  signal?: AbortSignal;
  /** Hears of each sitemap that was left out. */
  onIncomplete(notice: string): void;
}

/** The pages of a sitemap and of those it lists: same origin, each once, in their order. */
export async function collectPages(first: Sitemap, start: URL, options: CollectOptions): Promise<URL[]> {
  const pages = new Map<string, URL>();
  const met = new Set([start.href]);

  async function collect(sitemap: Sitemap, base: URL, depth: number): Promise<void> {
    for (const location of sitemap.locations) {
      const url = sameOrigin(location, base, start);
      if (url === null) continue;
      if (sitemap.kind === 'index') await descend(url, depth + 1);
      else if (pages.size <= options.maxPages) pages.set(url.href, url);
      if (pages.size > options.maxPages) return;
    }
  }

  async function descend(url: URL, depth: number): Promise<void> {
    if (met.has(url.href)) return;
    if (depth > MAX_DEPTH || met.size >= MAX_SITEMAPS) {
      options.onIncomplete(`left out the sitemap ${url.href}: too many sitemaps inside sitemaps`);
      return;
    }
    met.add(url.href);
    let nested: Sitemap;
    try {
      nested = await parseSitemap(await options.load(url), url);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      options.onIncomplete(`left out the sitemap ${url.href}: ${messageOf(error)}`);
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
