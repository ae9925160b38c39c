import type { FileUpgrade } from '../adapters/sqlite/file-format.ts';
import type { RetryAttempt } from '../faults/retry.ts';
import type { IngestProgress } from '../ingest/ingest.ts';

/** Side events of an app, as data: downloads, retries and the choice of a collection. */
export type AppEvent =
  /** Download progress of the embedding model or its runtime, in bytes. */
  | { type: 'model_download_progress'; part: 'weights' | 'engine'; received: number; total: number | null }
  /** The downloads ended, successfully or not. */
  | { type: 'model_download_ended' }
  /** A request to a service is about to be repeated. */
  | ({ type: 'retry' } & RetryAttempt)
  /** A file of an earlier version was upgraded; `backup` is the file before. */
  | ({ type: 'file_upgraded' } & FileUpgrade)
  /** No collection was given: the only one is used, or the last one that was used. */
  | { type: 'default_collection'; name: string }
  /** The collection was ingested by an earlier version and cannot be reranked. */
  | { type: 'no_word_vectors'; collection: string }
  /** There is no collection, and the sample book is used. */
  | { type: 'sample_book' }
  | { type: 'sample_progress'; progress: IngestProgress }
  | { type: 'sample_indexed' };
