import type { Filter } from '../../domain/filter.ts';
import type { DocumentRecord } from '../../ports/chunk-store.ts';
import { anyOf, type Condition } from './visibility.ts';

/** What most filters name; the rest is found by pairs. */
const FIELDS = new Set(['module', 'url', 'uri']);

/** A filter of the domain as conditions of Qdrant. */
export function filterConditions(filter: Filter): Condition[] {
  return Object.entries(filter).map(([key, values]) =>
    FIELDS.has(key)
      ? anyOf(key, values)
      : anyOf(
          'facets',
          values.map((value) => facetOf(key, value)),
        ),
  );
}

/**
 * Title, chapter and metadata as words to filter by, one for each pair of key and value: metadata may have any
 * key, which a path of Qdrant could not name, and as many as it likes, which could not all have an index.
 */
export function facetsOf({ metadata, title, chapter }: DocumentRecord): string[] {
  return Object.entries({ ...metadata, title, chapter })
    .filter((entry): entry is [string, string] => entry[1] !== null)
    .map(([key, value]) => facetOf(key, value));
}

function facetOf(key: string, value: string): string {
  return JSON.stringify([key, value]);
}
