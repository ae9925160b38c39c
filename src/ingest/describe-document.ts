import type { ParsedDocument } from '../domain/document.ts';
import type { SourceEntry } from '../ports/loader.ts';

/** Docusaurus orders files and folders by a number in front, which is not part of their name: `01-intro`. */
const ORDER_PREFIX = /^\d+[-_. ]+(?=\S)/;

export interface DescribeOptions {
  /** Where the documents are published; without it their own place is cited. */
  baseUrl?: string | undefined;
  /** Overrides what the documents say of themselves. */
  module?: string | undefined;
}

interface DocumentDescription {
  url: string;
  title: string;
  module: string | null;
  chapter: string | null;
}

/** What is cited of a document: from its front matter, or else from where it lies. */
export function describeDocument(
  entry: Pick<SourceEntry, 'relativePath'> & { place: string },
  { title, metadata }: Pick<ParsedDocument, 'title' | 'metadata'>,
  options: DescribeOptions,
): DocumentDescription {
  const segments = entry.relativePath.split('/').map((segment) => segment.replace(ORDER_PREFIX, ''));
  const stem = (segments.pop() ?? '').replace(/\.[a-z]+$/i, '');
  return {
    url:
      options.baseUrl === undefined
        ? entry.place
        : publishedUrl(options.baseUrl, segments, stem, metadata.slug),
    title: title ?? (stem || entry.place),
    module: options.module ?? metadata.module ?? segments[0] ?? null,
    chapter: metadata.chapter ?? (stem || null),
  };
}

/** The address on the published site: the slug if there is one, else the path without order and ending. */
function publishedUrl(
  baseUrl: string,
  folders: readonly string[],
  stem: string,
  slug: string | undefined,
): string {
  const isIndex = /^(index|readme)$/i.test(stem);
  const own = slug ?? (isIndex ? '' : stem);
  const path = own.startsWith('/') ? own : [...folders, own].join('/');
  const base = new URL(baseUrl);
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  base.pathname = [base.pathname.replace(/\/+$/, ''), ...parts.map(encodeURIComponent)].join('/');
  return base.href;
}
