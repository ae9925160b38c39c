import { AppError } from '../../faults/app-error.ts';

/** Parses an http or https URL without credentials and drops its fragment. Throws `invalid_input` for others. */
export function parseWebUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new AppError('invalid_input', `${text} is not a URL.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AppError('invalid_input', `${url.href} is not an http or https URL.`);
  }
  if (url.username !== '' || url.password !== '') {
    // The message may be logged, so it does not contain the URL.
    throw new AppError('invalid_input', `The URL of ${url.host} contains a user name or password.`);
  }
  url.hash = '';
  return url;
}

/**
 * The part of a site to crawl from a page: its directory. For a first-level page without an extension, such as `/docs`, it
 * is `/docs/`, since its directory would be the whole site.
 */
export function crawlScope(start: URL): URL {
  const isFirstLevelPage = /^\/[^/.]+$/.test(start.pathname);
  return isFirstLevelPage ? new URL(`${start.pathname}/`, start) : new URL('.', start);
}

/** Whether a page is inside a scope. `/docs` is inside `/docs/`. */
export function isInCrawlScope(url: URL, scope: URL): boolean {
  if (url.origin !== scope.origin) return false;
  return url.pathname.startsWith(scope.pathname) || `${url.pathname}/` === scope.pathname;
}

/** The path of a page below its root as a file name: `''` and `guide/` get `index.html`. */
export function relativePagePath(root: URL, url: URL): string {
  const directory = root.pathname.slice(0, root.pathname.lastIndexOf('/') + 1);
  const path = url.pathname.slice(directory.length);
  const named = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  try {
    return decodeURIComponent(named) + url.search;
  } catch {
    return named + url.search;
  }
}

/** Equal for URLs of the same page. */
export function pageKey(url: URL): string {
  const key = new URL(url);
  key.hash = '';
  key.pathname = key.pathname.replace(/\/index\.html?$/, '/');
  return key.href;
}
