import { matchesSource } from './matches-source.ts';

const SEGMENTS = 2;

/** How a case names a document: a file by the end of its path, the same on every machine; a page by its address. */
export function sourceSuffix(url: string): string {
  if (!url.startsWith('file:')) return url;
  const segments = url
    .replace(/[?#].*$/s, '')
    .split('/')
    .slice(-SEGMENTS);
  try {
    const suffix = segments.map(decodeURIComponent).join('/');
    return matchesSource(suffix, url) ? suffix : url;
  } catch {
    return url;
  }
}
