import type { Page } from './read-page.ts';
import type { TimeBudget } from './time-budget.ts';
import { isInScope, pageKey } from './web-url.ts';

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
  onIncomplete(notice: string): void;
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
      options.onIncomplete('stopped when the time was up; --max-seconds raises it');
      return;
    }
    if (page.kind !== 'failed') enqueue(page.links, visit.depth + 1);
    yield page;
  }
  if (queue.length > 0) options.onIncomplete(`stopped at ${maxPages} pages; --max-pages raises it`);
  if (tooDeep > 0) options.onIncomplete(`left out links deeper than ${maxDepth}; --max-depth raises it`);
}
