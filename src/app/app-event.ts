import type { RetryAttempt } from '../faults/retry.ts';
import type { IngestProgress } from '../ingest/ingest.ts';

/** Side events of an app, as data: downloads, retries and the choice of a collection. */
export type AppEvent =
  /** Download progress of the embedding model or its runtime, in bytes. */
  | { type: 'model_fetched'; part: 'weights' | 'engine'; received: number; total: number | null }
  /** The downloads ended, successfully or not. */
  | { type: 'model_loaded' }
  /** A request to a service is about to be repeated. */
  | ({ type: 'retry' } & RetryAttempt)
  /** No collection was given, and the only one is used. */
  | { type: 'only_collection'; name: string }
  /** There is no collection, and the sample book is used. */
  | { type: 'sample_book' }
  | { type: 'sample_progress'; progress: IngestProgress }
  | { type: 'sample_indexed' };
