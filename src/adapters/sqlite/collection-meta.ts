import type { DatabaseSync } from 'node:sqlite';
import type { CollectionIdentity } from '../../domain/collection-identity.ts';

/** What a collection says of itself. */
export interface CollectionMeta extends CollectionIdentity {
  createdAt: string;
  updatedAt: string;
  /** How many chunks there were when the common terms were last found out. */
  commonTermsOf: number;
  /** How many of the chunks there have ever been the full-text index does not count: those gone when it was made. */
  uncountedTexts: number;
}

export function readMeta(database: DatabaseSync): CollectionMeta {
  const rows = database.prepare('SELECT key, value FROM meta').all();
  const values = new Map(rows.map((row) => [String(row.key), String(row.value)]));
  return {
    embedder: values.get('embedder') ?? '',
    dimensions: Number(values.get('dimensions')),
    createdAt: values.get('createdAt') ?? '',
    updatedAt: values.get('updatedAt') ?? '',
    commonTermsOf: Number(values.get('commonTermsOf') ?? 0),
    uncountedTexts: Number(values.get('uncountedTexts') ?? 0),
  };
}

export function writeMeta(database: DatabaseSync, meta: Partial<CollectionMeta>): void {
  const write = database.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  for (const [key, value] of Object.entries(meta)) write.run(key, String(value));
}
