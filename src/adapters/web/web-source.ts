import { type Advice, advice } from '../../faults/advice.ts';
import type { DocumentSource, SourceEntry } from '../../ports/loader.ts';
import { crawl, createTimeBudget, planCrawl } from './crawl.ts';
import { createPageReader, type Page } from './read-page.ts';
import { createRobots } from './robots.ts';
import { createSafeFetch, type SafeFetchOptions } from './safe-fetch.ts';
import { isInScope, pageKey, parseWebUrl, pathBelow } from './web-url.ts';

export interface WebSourceOptions extends Omit<SafeFetchOptions, 'userAgent'> {
  /** `citeloop/<version>`. */
  userAgent?: string;
  /** Whether the links of an HTML page are followed, below its directory; default true. */
  follow?: boolean;
  /** How many pages are asked for; default 500. */
  maxPages?: number | undefined;
  /** How many links away from the start; default 5. */
  maxDepth?: number | undefined;
  /** The largest page; default 10 MB. */
  maxBytes?: number;
  /** How long the site may keep us waiting in all; default 600. */
  maxSeconds?: number | undefined;
  concurrency?: number;
  /** Hears about bounds that were met and pages that were left out. */
  onNotice?: (notice: Advice) => void;
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

    function onIncomplete(notice: Advice): void {
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
      if (counts.length > 0) onNotice(advice`left out ${counts.join(', ')}`);
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

type ListedPage = Exclude<Page, { kind: 'skipped' }>;

/** The entry of a page whose bytes, or failure, are already there. */
function pageEntry(page: ListedPage, root: URL): SourceEntry {
  return {
    uri: page.url.href,
    root: root.href,
    relativePath: pathBelow(root, page.url),
    async read() {
      if (page.kind === 'failed') throw page.error;
      return page.document;
    },
  };
}

/** Whether a page is still on the site after its redirects. */
function isOnSite(page: Page, root: URL): boolean {
  return isInScope(page.url, root);
}

/** Remembers pages; false for one that was met before under another address. */
function createNovelty(): (page: ListedPage) => boolean {
  const met = new Set<string>();
  return (page) => {
    const keys = [pageKey(page.url)];
    if (page.kind === 'document' && page.canonical && isTrustworthy(page.canonical, page.url)) {
      keys.push(pageKey(page.canonical));
    }
    const isNew = !keys.some((key) => met.has(key));
    for (const key of keys) met.add(key);
    return isNew;
  };
}

/** Some sites name their home page as the canonical address of every page; a parent is not believed. */
function isTrustworthy(canonical: URL, page: URL): boolean {
  const isParent = canonical.pathname.endsWith('/') && page.pathname.startsWith(canonical.pathname);
  return !isParent || pageKey(canonical).split('?')[0] === pageKey(page).split('?')[0];
}
