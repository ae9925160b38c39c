import type { DocumentSource, SourceEntry } from '../../ports/loader.ts';
import { crawl } from './crawl.ts';
import { createNovelty, isOnSite, pageEntry } from './page-entry.ts';
import { planCrawl } from './plan-crawl.ts';
import { createPageReader } from './read-page.ts';
import { createRobots } from './robots.ts';
import { createSafeFetch, type SafeFetchOptions } from './safe-fetch.ts';
import { createTimeBudget } from './time-budget.ts';
import { isInScope, parseWebUrl } from './web-url.ts';

export interface WebSourceOptions extends Omit<SafeFetchOptions, 'userAgent'> {
  /** `citeloop/<version>`. */
  userAgent?: string;
  /** Whether the links of an HTML page are followed, below its directory; default true. */
  follow?: boolean;
  /** How many pages are asked for; default 500. */
  maxPages?: number;
  /** How many links away from the start; default 5. */
  maxDepth?: number;
  /** The largest page; default 10 MB. */
  maxBytes?: number;
  /** How long the site may keep us waiting in all; default 600. */
  maxSeconds?: number;
  concurrency?: number;
  /** Hears about bounds that were met and pages that were left out. */
  onNotice?: (notice: string) => void;
}

/** Why pages are left out, in words that follow a number. */
const LEFT_OUT = {
  type: 'of another type',
  robots: 'barred by robots.txt',
  noindex: 'marked noindex',
  offSite: 'redirected off the site',
} as const;

/**
 * The pages of a site, of a sitemap, or a single document, fetched while they are listed: the bytes of an entry
 * are there when it is yielded. Throws `invalid_input` for a URL that cannot be used, and from `entries` what
 * went wrong with the very first request.
 */
export function createWebSource(url: string, options: WebSourceOptions = {}): DocumentSource {
  const start = parseWebUrl(url);
  const { maxPages = 500, maxDepth = 5, maxBytes = 10 * 1024 * 1024, maxSeconds = 600 } = options;
  const { concurrency = 4, follow = true, onNotice = () => {}, userAgent = 'citeloop' } = options;

  /** The root that was searched to its end; null before that, and when something was left out. */
  let searched: URL | null = null;

  async function* entries(signal?: AbortSignal): AsyncGenerator<SourceEntry> {
    const budget = createTimeBudget(maxSeconds, signal);
    const web = createSafeFetch({ ...options, userAgent });
    const reader = createPageReader({ web, robots: createRobots(web), maxBytes });
    const isNew = createNovelty();
    const leftOut = new Map<keyof typeof LEFT_OUT, number>();
    let isComplete = true;
    searched = null;

    function onIncomplete(notice: string): void {
      isComplete = false;
      onNotice(notice);
    }

    try {
      const limits = { maxPages, maxBytes, signal: budget.signal };
      const plan = await budget.wait(planCrawl(start, { reader, follow, onIncomplete, ...limits }));
      const bounds = { maxPages, maxDepth, concurrency, budget };
      for await (const page of crawl({ ...plan, ...bounds, read: reader.read, onIncomplete })) {
        if (page.kind === 'skipped') count(leftOut, page.reason);
        else if (!isOnSite(page, plan.root)) count(leftOut, 'offSite');
        else if (isNew(page)) yield pageEntry(page, plan.root);
        // Behind a page that failed for the moment there may be others.
        if (page.kind === 'failed' && page.error.recoverable) isComplete = false;
      }
      const counts = [...leftOut].map(([reason, times]) => `${times} ${LEFT_OUT[reason]}`);
      if (counts.length > 0) onNotice(`left out ${counts.join(', ')}`);
      if (isComplete) searched = plan.root;
    } finally {
      // A reader may stop in the middle, while further pages are under way.
      budget.stop();
      await web.close();
    }
  }

  return {
    total: null,
    entries,
    covers({ uri, root }) {
      if (searched === null || root !== searched.href) return false;
      const page = URL.parse(uri);
      return page !== null && isInScope(page, searched);
    },
  };
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
