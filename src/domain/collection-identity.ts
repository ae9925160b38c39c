import { AppError } from './app-error.ts';

/** What a collection was made with, fixed when it is created. */
export interface CollectionIdentity {
  /** The id of the embedder whose vectors it holds. */
  embedder: string;
  dimensions: number;
}

/** Vectors of two embedders must never be compared. Throws `configuration_error`. */
export function assertSameEmbedder(name: string, has: CollectionIdentity, wanted: CollectionIdentity): void {
  if (has.embedder === wanted.embedder && has.dimensions === wanted.dimensions) return;
  throw new AppError(
    'configuration_error',
    `Collection "${name}" was made with the embedder ${has.embedder} (${has.dimensions} dimensions), ` +
      `not ${wanted.embedder} (${wanted.dimensions}).`,
    {
      hint:
        'Use that embedder, choose another --collection, or remove this one with ' +
        `\`citeloop collections delete ${name}\` and ingest again.`,
    },
  );
}
