import { decodeUrl } from '../../domain/format-location.ts';

/**
 * Whether an expected source names the document at this URL. With `://` it is a whole URL, compared without fragment
 * and trailing slash. Otherwise it is the end of a path, by whole segments and case-sensitive: `ros2/nodes.md` and
 * `nodes.md` match `book/ros2/nodes.md`, `odes.md` does not.
 */
export function matchesSource(expected: string, url: string): boolean {
  if (expected.includes('://')) return normalizeUrl(expected) === normalizeUrl(url);
  const wanted = toSegments(expected);
  const path = toSegments(toPath(url));
  return (
    wanted.length > 0 &&
    wanted.length <= path.length &&
    wanted.every((segment, index) => segment === path.at(index - wanted.length))
  );
}

/** The file name of a URL or path, without which no source matches it. */
export function toFileName(address: string): string {
  return toSegments(toPath(address)).at(-1) ?? '';
}

/** How a case names a document: a file by the last two segments of its path, a web page by its URL. */
export function toExpectedSource(url: string): string {
  if (/^https?:/i.test(url)) return url;
  const suffix = decodeUrl(
    url
      .replace(/[?#].*$/s, '')
      .split('/')
      .slice(-2)
      .join('/'),
  );
  return matchesSource(suffix, url) ? suffix : url;
}

function normalizeUrl(url: string): string {
  return decodeUrl(url.replace(/#.*$/s, '')).replace(/\/+$/, '');
}

function toPath(url: string): string {
  return decodeUrl(url.replace(/[?#].*$/s, '').replace(/^[a-z][\w+.-]*:\/\/[^/]*/i, ''));
}

function toSegments(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.');
}
