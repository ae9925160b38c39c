import type { ParsedDocument } from '../domain/document.ts';
import type { SourceEntry } from '../ports/document-source.ts';

/** Docusaurus orders files and folders by a prefix that is not part of their name: `01-intro`. */
const ORDER_PREFIX = /^\d+[-_. ]+(?=\S)/;

/** Takes the description from the front matter, or else from the path. */
export function describeDocument(
  entry: Pick<SourceEntry, 'relativePath'> & { place: string },
  { title, metadata }: Pick<ParsedDocument, 'title' | 'metadata'>,
  options: { baseUrl?: string | undefined; module?: string | undefined },
) {
  const segments = entry.relativePath.split('/').map((segment) => segment.replace(ORDER_PREFIX, ''));
  const stem = (segments.pop() ?? '').replace(/\.[a-z]+$/i, '');
  return {
    url:
      options.baseUrl === undefined
        ? entry.place
        : toPublishedUrl(options.baseUrl, segments, stem, metadata.slug),
    title: title ?? (stem || entry.place),
    module: options.module ?? metadata.module ?? segments[0] ?? null,
    chapter: metadata.chapter ?? (stem || null),
  };
}

/** The slug if there is one, otherwise the path without order prefixes and extension. */
function toPublishedUrl(
  baseUrl: string,
  folders: readonly string[],
  stem: string,
  slug: string | undefined,
): string {
  const isIndex = /^(index|readme)$/i.test(stem);
  const last = slug ?? (isIndex ? '' : stem);
  const path = last.startsWith('/') ? last : [...folders, last].join('/');
  const base = new URL(baseUrl);
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  base.pathname = [base.pathname.replace(/\/+$/, ''), ...parts.map(encodeURIComponent)].join('/');
  return base.href;
}
