import { type Advice, advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import type { Page, PageReader } from './read-page.ts';
import { collectPages, isSitemap, MAX_SITEMAP_BYTES, parseSitemap } from './sitemap.ts';
import { isInScope, pageKey, scopeOf } from './web-url.ts';

interface CrawlOptions {
  /** Pages to begin with, in their order. */
  starts: URL[];
  /** The page of the first start, when it was read before. */
  first?: Page;
  /** Links are followed while they lie inside; null follows none. */
  scope: URL | null;
  maxPages: number;
  maxDepth: number;
  concurrency: number;
  budget: TimeBudget;
  read(url: URL, signal: AbortSignal): Promise<Page>;
  /** Hears of each bound that was met. */
  onIncomplete(notice: Advice): void;
}

interface Visit {
  page: Promise<Page>;
  depth: number;
}

/** Names that no page has; asking for them would be a waste. */
const NO_PAGE =
  /\.(png|jpe?g|gif|svg|webp|avif|ico|css|m?js|map|json|xml|rss|atom|zip|gz|tgz|bz2|xz|tar|whl|jar|exe|dmg|deb|rpm|iso|mp[34]|webm|ogg|wav|woff2?|ttf)$/i;

/**
 * Visits pages breadth-first. Up to `concurrency` are fetched at a time, but they are yielded and their links
 * queued strictly in order, so two crawls of one site go the same way however fast the answers come.
 */
export async function* crawl(options: CrawlOptions): AsyncGenerator<Page> {
  const { budget, scope, maxPages, maxDepth } = options;
  const queue = options.starts.map((url) => ({ url, depth: 0 }));
  const queued = new Set(options.starts.map(pageKey));
  const visits: Visit[] = [];
  let begun = 0;
  let tooDeep = 0;

  function begin(): void {
    while (visits.length < options.concurrency && begun < maxPages) {
      const next = queue.shift();
      if (next === undefined) return;
      const known = begun === 0 ? options.first : undefined;
      const page = known ? Promise.resolve(known) : options.read(next.url, budget.signal);
      // It is awaited in its turn; until then a failure must not count as unhandled.
      page.catch(() => {});
      visits.push({ page, depth: next.depth });
      begun += 1;
    }
  }

  function enqueue(links: URL[], depth: number): void {
    for (const url of links) {
      if (scope === null || !isInScope(url, scope) || NO_PAGE.test(url.pathname)) continue;
      if (queued.has(pageKey(url))) continue;
      if (depth > maxDepth) {
        tooDeep += 1;
        continue;
      }
      queued.add(pageKey(url));
      queue.push({ url, depth });
    }
  }

  for (begin(); visits.length > 0; begin()) {
    const visit = visits.shift();
    if (visit === undefined) break;
    const page = await budget.wait(visit.page).catch((error: unknown) => {
      if (budget.isSpent) return null;
      throw error;
    });
    if (page === null) {
      options.onIncomplete(advice`stopped when the time was up; ${setting('maxSeconds')} raises it`);
      return;
    }
    if (page.kind !== 'failed') enqueue(page.links, visit.depth + 1);
    yield page;
  }
  if (queue.length > 0)
    options.onIncomplete(advice`stopped at ${String(maxPages)} pages; ${setting('maxPages')} raises it`);
  if (tooDeep > 0)
    options.onIncomplete(
      advice`left out links deeper than ${String(maxDepth)}; ${setting('maxDepth')} raises it`,
    );
}

/** Where a crawl begins, and what belongs to it. */
interface CrawlPlan {
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
  onIncomplete(notice: Advice): void;
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

/** A limit on the time spent waiting. Time that the caller spends between two waits does not count. */
export interface TimeBudget {
  /** Aborts when the budget is used up, or when the outer signal does. */
  signal: AbortSignal;
  readonly isSpent: boolean;
  /** Waits for work that listens to the signal. */
  wait<T>(work: Promise<T>): Promise<T>;
  /** Ends all work that listens to the signal. */
  stop(): void;
}

/** A budget in seconds, over the time that all waits take together. */
export function createTimeBudget(seconds: number, outer?: AbortSignal): TimeBudget {
  const controller = new AbortController();
  let left = seconds * 1000;
  return {
    signal: outer ? AbortSignal.any([outer, controller.signal]) : controller.signal,
    get isSpent() {
      return controller.signal.aborted;
    },
    stop: () => controller.abort(),
    async wait(work) {
      const begun = performance.now();
      const timer = setTimeout(() => controller.abort(spent(seconds)), Math.max(left, 0));
      try {
        return await work;
      } finally {
        clearTimeout(timer);
        left -= performance.now() - begun;
      }
    },
  };
}

function spent(seconds: number): AppError {
  return new AppError('api_error', `The site did not answer in full within ${seconds} seconds.`, {
    hint: advice`Raise the limit with ${setting('maxSeconds')}.`,
    recoverable: true,
  });
}
