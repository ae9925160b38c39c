import type { ParsedDocument, RawDocument } from '../domain/document.ts';

/** One document that a source has found, not yet read. */
export interface SourceEntry {
  /** Where it lies: a `file:` or `http(s):` URL. */
  uri: string;
  /** The place it was found under (a directory, file or site), as a URL; pruning stays inside it. */
  root: string;
  /** Its path below the root, with forward slashes. */
  relativePath: string;
  /** Reads it whole. Throws an AppError of kind `invalid_input` when it cannot be used. */
  read(signal?: AbortSignal): Promise<RawDocument>;
}

/** Finds documents: files, directories, globs, or the pages of a site. */
export interface DocumentSource {
  /** How many entries there are, if that is known before they are listed. */
  total: number | null;
  /** Yields each entry once, in a stable order. One that cannot be reached is still yielded, and its `read` throws. */
  entries(signal?: AbortSignal): AsyncIterable<SourceEntry>;
  /** Whether this source would have found such a document if it were still there. False where it did not look everywhere. */
  covers(document: { uri: string; root: string }): boolean;
  /** Whether rules that someone wrote leave out such a document, which is there. Left out where there are no rules. */
  ignores?(document: { uri: string }): Promise<boolean>;
}

/** Turns the bytes of a document into clean text with its structure. Throws `invalid_input` for what it cannot read, or the signal's reason. */
export type DocumentParser = (document: RawDocument, signal?: AbortSignal) => Promise<ParsedDocument>;
