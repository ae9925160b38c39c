import { createHash } from 'node:crypto';
import { advice, settingName, viaCommand } from '../faults/advice.ts';
import { AppError } from '../faults/app-error.ts';

/** The embedder of a collection, fixed when it is created. */
export interface CollectionIdentity {
  embedder: string;
  dimensions: number;
}

/** Equal for collections with the same documents at the same URLs, independent of their roots. */
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

/** Throws `configuration_error`: vectors of different embedders must not be compared. */
export function assertSameEmbedder(name: string, has: CollectionIdentity, wanted: CollectionIdentity): void {
  if (has.embedder === wanted.embedder && has.dimensions === wanted.dimensions) return;
  throw new AppError(
    'configuration_error',
    `Collection "${name}" was created with the embedder ${has.embedder} (${has.dimensions} dimensions), ` +
      `not ${wanted.embedder} (${wanted.dimensions}).`,
    {
      hint: advice`Use that embedder, choose another ${settingName('collection')}, or remove this one${viaCommand(`collections delete ${name}`)} and ingest again.`,
    },
  );
}

/** The query vector has another length than those of the collection. */
export function wrongDimensionsError(given: number, dimensions: number): AppError {
  return new AppError(
    'configuration_error',
    `The query vector has ${given} dimensions, but the collection has ${dimensions}.`,
    {
      hint: advice`Search with the embedder of the collection${viaCommand('collections show')}`,
    },
  );
}

/** A vector of another length, or with values that are not finite. */
export function invalidVectorError(dimensions: number): AppError {
  return new AppError(
    'configuration_error',
    `The embedder did not return ${dimensions} finite numbers for a chunk.`,
    { hint: advice`Check the embedder${viaCommand('doctor')}` },
  );
}

/** Chunk ids are derived from URLs, so two documents must not have the same one. */
export function duplicateUrlError(
  { uri, url }: { uri: string; url: string },
  owner: string,
  cause?: unknown,
): AppError {
  return new AppError('invalid_input', `${uri} has the same URL as ${owner}: ${url}.`, {
    hint: advice`Give one of them another slug, or ingest them with different ${settingName('baseUrl', 'base URLs')}.`,
    cause,
  });
}
