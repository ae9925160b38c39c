import { type Advice, advice, settingName } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { CrawledPage, PageReader } from './read-page.ts';
import { collectSitemapPages, isSitemap, MAX_SITEMAP_BYTES, parseSitemap } from './sitemap.ts';
import { crawlScope, isInCrawlScope, pageKey } from './web-url.ts';

interface CrawlPlan {
  /** The directory that is crawled, or a single document. */
  root: URL;
  starts: URL[];
  /** The first page if it was read before. */
  first?: CrawledPage;
  /** Only links inside it are followed; null follows none. */
  scope: URL | null;
}

interface CrawlOptions extends CrawlPlan {
  maxPages: number;
  maxDepth: number;
  concurrency: number;
  signal: AbortSignal;
  read(url: URL, signal: AbortSignal): Promise<CrawledPage>;
  onIncomplete(notice: Advice): void;
}

/** Extensions that are not pages. */
const NOT_A_PAGE =
  /\.(png|jpe?g|gif|svg|webp|avif|ico|css|m?js|map|json|xml|rss|atom|zip|gz|tgz|bz2|xz|tar|whl|jar|exe|dmg|deb|rpm|iso|mp[34]|webm|ogg|wav|woff2?|ttf)$/i;

/**
 * Visits pages breadth-first. Up to `concurrency` pages are fetched at a time, but they are yielded and their links queued
 * in order, so that the order of a crawl does not depend on response times.
 */
export async function* crawlPages(options: CrawlOptions): AsyncGenerator<CrawledPage> {
  const { signal, scope, maxPages, maxDepth, onIncomplete } = options;
  const queue = options.starts.map((url) => ({ url, depth: 0 }));
  const queued = new Set(options.starts.map(pageKey));
  const visits: { page: Promise<CrawledPage>; depth: number }[] = [];
  let started = 0;
  let isCut = false;

  function startVisits(): void {
    while (visits.length < options.concurrency && started < maxPages) {
      const next = queue.shift();
      if (next === undefined) return;
      const known = started === 0 ? options.first : undefined;
      const page = known ? Promise.resolve(known) : options.read(next.url, signal);
      // Awaited later; until then a rejection must not count as unhandled.
      page.catch(() => {});
      visits.push({ page, depth: next.depth });
      started += 1;
    }
  }

  function enqueue(links: URL[], depth: number): void {
    for (const url of links) {
      if (scope === null || !isInCrawlScope(url, scope) || NOT_A_PAGE.test(url.pathname)) continue;
      if (queued.has(pageKey(url))) continue;
      if (depth > maxDepth) {
        isCut = true;
        continue;
      }
      queued.add(pageKey(url));
      queue.push({ url, depth });
    }
  }

  for (startVisits(); visits.length > 0; startVisits()) {
    const visit = visits.shift();
    if (visit === undefined) break;
    const page = await visit.page.catch((error: unknown) => {
      if (signal.reason instanceof CrawlTimeoutError) return null;
      throw error;
    });
    if (page === null) {
      onIncomplete(advice`stopped at the time limit; raise it with ${settingName('maxSeconds')}`);
      return;
    }
    if (page.kind !== 'failed') enqueue(page.links, visit.depth + 1);
    yield page;
  }
  if (queue.length > 0)
    onIncomplete(
      advice`stopped at ${String(maxPages)} pages; raise the limit with ${settingName('maxPages')}`,
    );
  if (isCut)
    onIncomplete(
      advice`skipped links deeper than ${String(maxDepth)}; raise the limit with ${settingName('maxDepth')}`,
    );
}

interface PlanOptions {
  reader: PageReader;
  follow: boolean;
  maxPages: number;
  maxBytes: number;
  signal: AbortSignal;
  onIncomplete(notice: Advice): void;
}

/** Fetches the first URL, which may be a sitemap, a page of a site or a single document. Throws if that fails. */
export async function planCrawl(start: URL, options: PlanOptions): Promise<CrawlPlan> {
  const { reader, signal } = options;
  const maxBytes = /\.xml(\.gz)?$/i.test(start.pathname) ? MAX_SITEMAP_BYTES : options.maxBytes;
  const resource = await reader.fetch(start, { signal, maxBytes, mayBeSitemap: true });
  if (resource.bytes !== null && isSitemap(resource.url, resource.bytes)) {
    return planSitemap(resource.url, resource.bytes, options);
  }
  const first = await reader.toPage(resource, signal);
  if (first.kind === 'failed' || (first.kind === 'skipped' && first.reason === 'type')) throw first.error;
  const isPage = first.kind === 'skipped' || first.document.mediaType === 'html';
  const scope = isPage && options.follow ? crawlScope(first.url) : null;
  return { root: scope ?? first.url, starts: [first.url], first, scope };
}

async function planSitemap(url: URL, bytes: Uint8Array, options: PlanOptions): Promise<CrawlPlan> {
  const { reader, signal, maxPages, onIncomplete } = options;
  const starts = await collectSitemapPages(await parseSitemap(bytes, url), url, {
    async load(nested) {
      const request = { signal, maxBytes: MAX_SITEMAP_BYTES, mayBeSitemap: true };
      return (await reader.fetch(nested, request)).bytes ?? new Uint8Array();
    },
    maxPages,
    signal,
    onIncomplete,
  });
  if (starts.length === 0)
    throw new AppError('invalid_input', `${url.href} lists no pages of the same site.`);
  // A sitemap covers its directory, unless it lists pages elsewhere on the site.
  const directory = crawlScope(url);
  const isBelow = starts.every((page) => isInCrawlScope(page, directory));
  return { root: isBelow ? directory : new URL('/', url), starts, scope: null };
}

/** The reason of a signal whose time limit is reached. */
export class CrawlTimeoutError extends AppError {
  constructor(seconds: number) {
    super('api_error', `The site did not answer in full within ${seconds} seconds.`, {
      hint: advice`Raise the limit with ${settingName('maxSeconds')}.`,
      recoverable: true,
    });
  }
}
