import { createHash } from 'node:crypto';
import { advice, command, setting } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';

/** What a collection was made with, fixed when it is created. */
export interface CollectionIdentity {
  /** The id of the embedder whose vectors it holds. */
  embedder: string;
  dimensions: number;
}

/** Tells whether two collections hold the same documents at the same places, wherever their roots lie. */
export function collectionFingerprint(
  { embedder }: Pick<CollectionIdentity, 'embedder'>,
  documents: readonly { url: string; contentHash: string }[],
): string {
  const lines = documents.map(({ url, contentHash }) => `${url} ${contentHash}`).sort();
  return createHash('sha256')
    .update(`${embedder}\n${lines.join('\n')}`)
    .digest('hex')
    .slice(0, 32);
}

/** Vectors of two embedders must never be compared. Throws `configuration_error`. */
export function assertSameEmbedder(name: string, has: CollectionIdentity, wanted: CollectionIdentity): void {
  if (has.embedder === wanted.embedder && has.dimensions === wanted.dimensions) return;
  throw new AppError(
    'configuration_error',
    `Collection "${name}" was made with the embedder ${has.embedder} (${has.dimensions} dimensions), ` +
      `not ${wanted.embedder} (${wanted.dimensions}).`,
    {
      hint: advice`Use that embedder, choose another ${setting('collection')}, or remove this one${command(`collections delete ${name}`)} and ingest again.`,
    },
  );
}

/** A query that cannot be compared with what the collection holds. */
export function wrongDimensions(given: number, dimensions: number): AppError {
  return new AppError(
    'configuration_error',
    `The query has ${given} dimensions, but the collection holds vectors of ${dimensions}.`,
    {
      hint: advice`Search with the embedder that the collection was made${command('collections show', {}, ' with')}`,
    },
  );
}

/** A vector of another length, or with values that are no numbers. */
export function unusableVector(dimensions: number): AppError {
  return new AppError(
    'configuration_error',
    `The embedder gave something other than ${dimensions} finite numbers for a chunk.`,
    { hint: advice`Check the embedder${command('doctor')}` },
  );
}

/** Chunk ids are made of addresses: two documents of the same address would have the same. */
export function addressTaken(
  { uri, url }: { uri: string; url: string },
  owner: string,
  cause?: unknown,
): AppError {
  return new AppError('invalid_input', `${uri} has the same address as ${owner}: ${url}.`, {
    hint: advice`Give one of them another slug, or ingest them with different ${setting('baseUrl', 'base URLs')}.`,
    cause,
  });
}
