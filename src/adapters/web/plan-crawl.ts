import { AppError } from '../../domain/app-error.ts';
import type { Page, PageReader } from './read-page.ts';
import { isSitemap, MAX_SITEMAP_BYTES, parseSitemap } from './sitemap.ts';
import { collectPages } from './sitemap-pages.ts';
import { isInScope, scopeOf } from './web-url.ts';

/** Where a crawl begins, and what belongs to it. */
export interface CrawlPlan {
  /** The site as far as it is ours; a single document is its own root. */
  root: URL;
  starts: URL[];
  first?: Page;
  /** Links are followed inside it; null when none are. */
  scope: URL | null;
}

interface PlanOptions {
  reader: PageReader;
  follow: boolean;
  maxPages: number;
  maxBytes: number;
  signal: AbortSignal;
  /** Hears of each sitemap that was left out. */
  onIncomplete(notice: string): void;
}

/** Fetches the start and decides by what comes: a sitemap, a site, or one document. Throws what went wrong. */
export async function planCrawl(start: URL, options: PlanOptions): Promise<CrawlPlan> {
  const { reader, signal } = options;
  const maxBytes = /\.xml(\.gz)?$/i.test(start.pathname) ? MAX_SITEMAP_BYTES : options.maxBytes;
  const resource = await reader.fetch(start, { signal, maxBytes, mayBeSitemap: true });
  if (resource.bytes !== null && isSitemap(resource.url, resource.bytes)) {
    return planSitemap(resource.url, resource.bytes, options);
  }
  const first = reader.toPage(resource);
  if (first.kind === 'failed' || (first.kind === 'skipped' && first.reason === 'type')) throw first.error;
  const isPage = first.kind === 'skipped' || first.document.mediaType === 'html';
  const scope = isPage && options.follow ? scopeOf(first.url) : null;
  return { root: scope ?? first.url, starts: [first.url], first, scope };
}

async function planSitemap(url: URL, bytes: Uint8Array, options: PlanOptions): Promise<CrawlPlan> {
  const { reader, signal, maxPages, onIncomplete } = options;
  const starts = await collectPages(await parseSitemap(bytes, url), url, {
    async load(nested) {
      const request = { signal, maxBytes: MAX_SITEMAP_BYTES, mayBeSitemap: true };
      return (await reader.fetch(nested, request)).bytes ?? new Uint8Array();
    },
    maxPages,
    signal,
    onIncomplete,
  });
  if (starts.length === 0) throw new AppError('invalid_input', `${url.href} lists no page of its own site.`);
  // A sitemap speaks for its directory, unless it lists pages elsewhere on the site.
  const directory = scopeOf(url);
  const isBelow = starts.every((page) => isInScope(page, directory));
  return { root: isBelow ? directory : new URL('/', url), starts, scope: null };
}
