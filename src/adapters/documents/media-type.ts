import type { MediaType } from '../../domain/document.ts';
import { CODE_EXTENSIONS } from './code/languages.ts';

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
  adoc: 'asciidoc',
  asciidoc: 'asciidoc',
  docx: 'docx',
  odt: 'odt',
  pptx: 'pptx',
  epub: 'epub',
  csv: 'csv',
  tsv: 'csv',
  xlsx: 'xlsx',
  ipynb: 'notebook',
  yaml: 'yaml',
  yml: 'yaml',
  json: 'yaml',
  toml: 'ini',
  ini: 'ini',
  cfg: 'ini',
  ...Object.fromEntries(CODE_EXTENSIONS.map((extension) => [extension, 'code' as const])),
};

/** With leading dots, for messages. */
export const SUPPORTED_EXTENSIONS: readonly string[] = Object.keys(BY_EXTENSION).map(
  (extension) => `.${extension}`,
);

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
  'text/asciidoc': 'asciidoc',
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'application/x-ipynb+json': 'notebook',
  'application/epub+zip': 'epub',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

/** Minified code, lock files of package managers, and settings and tapes of this program. */
const SKIPPED = /\.min\.\w+$|[-.]lock\.\w+$|\bciteloop\.config\.json$|\.tape\.json$/i;

/** The format of a file by its extension; null if it is unsupported or skipped. */
export function mediaTypeOfPath(path: string): MediaType | null {
  if (SKIPPED.test(path)) return null;
  const extension = /\.([a-z]\w*)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(BY_EXTENSION, extension) ? (BY_EXTENSION[extension] ?? null) : null;
}

/** The format of an HTTP `Content-Type` header; null if it is unsupported. */
export function mediaTypeOfContentType(header: string | null | undefined): MediaType | null {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(BY_CONTENT_TYPE, type) ? (BY_CONTENT_TYPE[type] ?? null) : null;
}
