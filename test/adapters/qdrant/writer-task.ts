import type { DocumentWrite } from '../../../src/ports/chunk-store.ts';
import { sampleDocument } from '../../contracts/sample-documents.ts';

export const WRITER_IDENTITY = { embedder: 'test:writers', dimensions: 8 };

export interface WriterTask {
  url: string;
  collectionPrefix: string;
  apiKey?: string | undefined;
  /** The document that is written. */
  name: string;
  versions: number;
}

/** Versions differ in the number of chunks, and each chunk names its version. */
export function versionOf(name: string, version: number): DocumentWrite {
  const chunks = Array.from({ length: 3 + (version % 4) }, (_, i) => `${name} part${i} version${version}`);
  return sampleDocument(name, WRITER_IDENTITY.dimensions, { title: `version${version}`, chunks });
}
