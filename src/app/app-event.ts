import type { Retry } from '../faults/retry.ts';
import type { IngestProgress } from '../ingest/ingest.ts';

/** What happens in the app besides what it was asked for, as data; whoever shows it finds the words. */
export type AppEvent =
  /** The embedding model arrives, on first use: its weights, and the engine that runs it. */
  | { type: 'model_fetched'; part: 'weights' | 'engine'; received: number; total: number | null }
  /** Or it could not be: nothing is being fetched any more. */
  | { type: 'model_loaded' }
  /** A service is busy and will be asked again. */
  | ({ type: 'retry' } & Retry)
  /** No collection was named, and this is the only one there is. */
  | { type: 'only_collection'; name: string }
  /** Nothing was indexed yet, so the sample book is searched. */
  | { type: 'sample_book' }
  | { type: 'sample_progress'; progress: IngestProgress }
  | { type: 'sample_indexed' };
