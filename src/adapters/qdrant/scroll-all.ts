import type { Schemas } from '@qdrant/js-client-rest';
import type { Connection } from './connection.ts';
import type { QdrantFilter } from './visibility.ts';

const PAGE = 1000;

export interface ScrollOptions {
  collection: string;
  /** What messages call the collection. */
  name: string;
  filter?: QdrantFilter;
  /** The fields to read; all of them if it is left out. */
  fields?: string[];
  /** The name of a vector to read, or true for the one without a name. */
  vector?: string | true;
}

/** All points that pass a filter, read page by page. */
export async function scrollAll(
  connection: Connection,
  { collection, name, filter = {}, fields, vector }: ScrollOptions,
): Promise<Schemas['Record'][]> {
  const found: Schemas['Record'][] = [];
  let offset: Schemas['ExtendedPointId'] | undefined;
  do {
    const page = await connection.call(name, (client) =>
      client.scroll(collection, {
        filter,
        limit: PAGE,
        with_payload: fields ?? true,
        with_vector: typeof vector === 'string' ? [vector] : (vector ?? false),
        ...(offset !== undefined && { offset }),
      }),
    );
    found.push(...page.points);
    offset = (page.next_page_offset ?? undefined) as Schemas['ExtendedPointId'] | undefined;
  } while (offset !== undefined);
  return found;
}
