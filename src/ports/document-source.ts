import type { ParsedDocument, RawDocument } from '../domain/document.ts';

/** A document that a source has found, before it is read. */
export interface SourceEntry {
  /** A `file:` or `http(s):` URL. */
  uri: string;
  /** The URL of the directory, file or site it was found in; pruning stays inside it. */
  root: string;
  /** Its path below the root, with forward slashes. */
  relativePath: string;
  /** Throws `invalid_input` if it cannot be used. */
  read(signal?: AbortSignal): Promise<RawDocument>;
}

/** Finds documents: files, directories, globs, or the pages of a site. */
export interface DocumentSource {
  /** The URL of the directory or file that it reads; undefined for web pages. */
  root?: string;
  /** The number of entries, if it is known in advance. */
  total: number | null;
  /** Yields each entry once, in a stable order. Unreachable ones are yielded too; their `read` throws. */
  entries(signal?: AbortSignal): AsyncIterable<SourceEntry>;
  /** Whether this source would have found such a document if it still existed. False if the search was cut short. */
  covers(document: { uri: string; root: string }): boolean;
  /** Whether ignore rules exclude an existing document. Undefined without such rules. */
  ignores?(document: { uri: string }): Promise<boolean>;
}

/** Parses a document into text and blocks. Throws `invalid_input` if it cannot be read, or the signal's reason. */
export type DocumentParser = (document: RawDocument, signal?: AbortSignal) => Promise<ParsedDocument>;
