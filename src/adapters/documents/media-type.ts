import type { MediaType } from '../../domain/document.ts';

const BY_EXTENSION: Readonly<Record<string, MediaType>> = {
  md: 'markdown',
  markdown: 'markdown',
  mdx: 'mdx',
  rst: 'rst',
  html: 'html',
  htm: 'html',
  txt: 'text',
  text: 'text',
  pdf: 'pdf',
};

const BY_CONTENT_TYPE: Readonly<Record<string, MediaType>> = {
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/mdx': 'mdx',
  'text/x-rst': 'rst',
  'text/prs.fallenstein.rst': 'rst',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'text',
  'application/pdf': 'pdf',
};

/** The format of a file by its extension; null if it is none that we read. */
export function mediaTypeOf(path: string): MediaType | null {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(BY_EXTENSION, extension) ? (BY_EXTENSION[extension] ?? null) : null;
}

/** The format an HTTP `Content-Type` header names, whatever its parameters; null if it is none that we read. */
export function mediaTypeOfContentType(header: string | null | undefined): MediaType | null {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(BY_CONTENT_TYPE, type) ? (BY_CONTENT_TYPE[type] ?? null) : null;
}
