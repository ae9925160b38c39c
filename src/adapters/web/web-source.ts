import { type Advice, advice } from '../../faults/advice.ts';
import type { DocumentSource, SourceEntry } from '../../ports/document-source.ts';
import { CrawlTimeoutError, crawlPages, planCrawl } from './crawl.ts';
import { extractLinks, type LinkExtractor } from './extract-links.ts';
import { type CrawledPage, createPageReader } from './read-page.ts';
import { createRobotsCache } from './robots.ts';
import { createSafeFetch, type SafeFetchOptions } from './safe-fetch.ts';
import { isInCrawlScope, pageKey, parseWebUrl, relativePagePath } from './web-url.ts';

export interface WebSourceOptions extends Omit<SafeFetchOptions, 'userAgent'> {
  /** Default `citeloop`. */
  userAgent?: string;
  /** Whether links below the directory of the page are followed; default true. */
  follow?: boolean;
  /** Maximum number of requested pages; default 500. */
  maxPages?: number | undefined;
  /** Maximum number of links from the start; default 5. */
  maxDepth?: number | undefined;
  /** Maximum size of a page; default 10 MB. */
  maxBytes?: number;
  /** Maximum time of the crawl; default 600. */
  maxSeconds?: number | undefined;
  concurrency?: number;
  /** Parses a page for its links; by default in this thread. */
  extractLinks?: LinkExtractor;
  /** Called for reached limits and skipped pages. */
  onNotice?: (notice: Advice) => void;
}

/** Reasons for skipped pages; each follows a number. */
const SKIP_REASONS = {
  type: 'of unsupported types',
  robots: 'disallowed by robots.txt',
  noindex: 'marked noindex',
  offSite: 'redirected off the site',
} as const;

/**
 * The pages of a site or sitemap, or a single document. Pages are fetched while they are listed. Throws `invalid_input` for
 * an unusable URL; `entries` throws if the first request fails.
 */
export function createWebSource(url: string, options: WebSourceOptions = {}): DocumentSource {
  const start = parseWebUrl(url);
  const { maxPages = 500, maxDepth = 5, maxBytes = 10 * 1024 * 1024, maxSeconds = 600 } = options;
  const { concurrency = 4, follow = true, onNotice = () => {}, userAgent = 'citeloop' } = options;

  /** The root of a complete crawl; null before its end, and if pages were skipped because of limits or errors. */
  let crawledRoot: URL | null = null;

  async function* entries(signal?: AbortSignal): AsyncGenerator<SourceEntry> {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new CrawlTimeoutError(maxSeconds)), maxSeconds * 1000);
    const crawlSignal = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
    const web = createSafeFetch({ ...options, userAgent });
    const reader = createPageReader({
      web,
      robots: createRobotsCache(web),
      maxBytes,
      extractLinks: options.extractLinks ?? (async (page) => extractLinks(page)),
    });
    const isNew = createDuplicateFilter();
    const skipped = new Map<keyof typeof SKIP_REASONS, number>();
    const skip = (reason: keyof typeof SKIP_REASONS) => skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    let isComplete = true;
    crawledRoot = null;

    function onIncomplete(notice: Advice): void {
      isComplete = false;
      onNotice(notice);
    }

    try {
      const limits = { maxPages, signal: crawlSignal };
      const plan = await planCrawl(start, { reader, follow, maxBytes, onIncomplete, ...limits });
      for await (const page of crawlPages({
        ...plan,
        ...limits,
        maxDepth,
        concurrency,
        read: reader.read,
        onIncomplete,
      })) {
        if (page.kind === 'skipped') skip(page.reason);
        else if (!isInCrawlScope(page.url, plan.root)) skip('offSite');
        else if (isNew(page)) yield pageEntry(page, plan.root);
        // A page that failed temporarily may link to others.
        if (page.kind === 'failed' && page.error.recoverable) isComplete = false;
      }
      const counts = [...skipped].map(([reason, times]) => `${times} ${SKIP_REASONS[reason]}`);
      if (counts.length > 0) onNotice(advice`skipped ${counts.join(', ')}`);
      if (isComplete) crawledRoot = plan.root;
    } finally {
      // The consumer may stop while pages are being fetched.
      clearTimeout(timer);
      stop.abort();
      await web.close();
    }
  }

  return {
    total: null,
    entries,
    covers({ uri, root }) {
      if (crawledRoot === null || root !== crawledRoot.href) return false;
      const page = URL.parse(uri);
      return page !== null && isInCrawlScope(page, crawledRoot);
    },
  };
}

type ListedPage = Exclude<CrawledPage, { kind: 'skipped' }>;

/** The entry of a fetched or failed page. */
function pageEntry(page: ListedPage, root: URL): SourceEntry {
  return {
    uri: page.url.href,
    root: root.href,
    relativePath: relativePagePath(root, page.url),
    async read() {
      if (page.kind === 'failed') throw page.error;
      return page.document;
    },
  };
}

/** Returns whether a page is new: it was not listed under this or its canonical URL. */
function createDuplicateFilter(): (page: ListedPage) => boolean {
  const listed = new Set<string>();
  return (page) => {
    const keys = [pageKey(page.url)];
    if (page.kind === 'document' && page.canonical && isTrustedCanonical(page.canonical, page.url)) {
      keys.push(pageKey(page.canonical));
    }
    const isNew = !keys.some((key) => listed.has(key));
    for (const key of keys) listed.add(key);
    return isNew;
  };
}

/** A parent is not trusted, because some sites name their home page as the canonical URL of every page. */
function isTrustedCanonical(canonical: URL, page: URL): boolean {
  const isParent = canonical.pathname.endsWith('/') && page.pathname.startsWith(canonical.pathname);
  return !isParent || pageKey(canonical).split('?')[0] === pageKey(page).split('?')[0];
}
