import type { SourceEntry } from '../../ports/loader.ts';
import type { Page } from './read-page.ts';
import { isInScope, pageKey, pathBelow } from './web-url.ts';

type ListedPage = Exclude<Page, { kind: 'skipped' }>;

/** The entry of a page whose bytes, or failure, are already there. */
export function pageEntry(page: ListedPage, root: URL): SourceEntry {
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
export function isOnSite(page: Page, root: URL): boolean {
  return isInScope(page.url, root);
}

/** Remembers pages; false for one that was met before under another address. */
export function createNovelty(): (page: ListedPage) => boolean {
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
