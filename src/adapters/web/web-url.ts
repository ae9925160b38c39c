import { AppError } from '../../faults/app-error.ts';

/** Parses an http(s) URL without credentials; anything else throws `invalid_input`. The fragment is dropped. */
export function parseWebUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null) throw new AppError('invalid_input', `${text} is not a URL.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AppError('invalid_input', `${url.href} is not an http or https URL.`);
  }
  if (url.username !== '' || url.password !== '') {
    // The URL is not repeated, since the message may end up in a log.
    throw new AppError('invalid_input', `The URL of ${url.host} carries a user name or password.`);
  }
  url.hash = '';
  return url;
}

/** The directory of a page, ending in a slash: relative links of the page start there. */
function directoryOf(url: URL): URL {
  return new URL('.', withoutSearch(url));
}

/**
 * The part of a site that a start page stands for: its directory. A first-level page without an extension,
 * such as `/docs`, stands for what lies below it, since its directory would be the whole site.
 */
export function scopeOf(start: URL): URL {
  const isFirstLevelPage = /^\/[^/.]+$/.test(start.pathname);
  return isFirstLevelPage ? new URL(`${start.pathname}/`, start) : directoryOf(start);
}

/** Whether a page lies inside a scope. `/docs` itself counts as inside `/docs/`. */
export function isInScope(url: URL, scope: URL): boolean {
  if (url.origin !== scope.origin) return false;
  return url.pathname.startsWith(scope.pathname) || `${url.pathname}/` === scope.pathname;
}

/** A page's path below its root, as a file would be called: `''` and `guide/` end in `index.html`. */
export function pathBelow(root: URL, url: URL): string {
  const directory = root.pathname.slice(0, root.pathname.lastIndexOf('/') + 1);
  const path = url.pathname.slice(directory.length);
  const named = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  try {
    return decodeURIComponent(named) + url.search;
  } catch {
    return named + url.search;
  }
}

/** Equal for two spellings of one page. */
export function pageKey(url: URL): string {
  const key = new URL(url);
  key.hash = '';
  key.pathname = key.pathname.replace(/\/index\.html?$/, '/');
  return key.href;
}

function withoutSearch(url: URL): URL {
  const bare = new URL(url);
  bare.search = '';
  return bare;
}
