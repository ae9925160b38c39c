import type { Head } from './collection-head.ts';
import { describeCollection } from './collection-schema.ts';
import type { Connection } from './connection.ts';
import { DENSE, TERMS } from './point-payload.ts';
import { scrollAll } from './scroll-all.ts';
import { visibleAt } from './visibility.ts';

interface CheckedCollection {
  connection: Connection;
  name: string;
  chunks: string;
  documents: string;
  head: Head;
}

/** What is wrong with a collection: on the server, or between its parts. */
export async function findProblems(collection: CheckedCollection): Promise<string[]> {
  const { connection, name, chunks, documents, head } = collection;
  const visible = visibleAt(head.epoch);
  const count = async (filter: object) => {
    const result = await connection.call(name, (client) => client.count(chunks, { filter, exact: true }));
    return result.count;
  };
  const fields = ['uri', 'chunks'];
  const records = await scrollAll(connection, { collection: documents, name, filter: visible, fields });
  const [described, all, dense, sparse, byDocument] = await Promise.all([
    describeCollection(connection, chunks),
    count(visible),
    count({ must: [...(visible.must as []), { has_vector: DENSE }] }),
    count({ must: [...(visible.must as []), { has_vector: TERMS }] }),
    connection.call(name, (client) =>
      client.facet(chunks, { key: 'uri', filter: visible, limit: records.length + 1000, exact: true }),
    ),
  ]);
  const expected = new Map(records.map(({ payload }) => [String(payload?.uri), Number(payload?.chunks)]));
  const found = new Map(byDocument.hits.map((hit) => [String(hit.value), hit.count]));
  const partial = [...expected].filter(([uri, chunkCount]) => (found.get(uri) ?? 0) !== chunkCount);
  const strange = [...found.keys()].filter((uri) => !expected.has(uri));
  const problems: [number, string][] = [
    [Math.max(0, all - dense), 'chunks are without a vector'],
    [Math.max(0, all - sparse), 'chunks are without terms'],
    [partial.length, 'documents have other chunks than were written'],
    [strange.length, 'documents are gone but for chunks'],
    [records.length - expected.size, 'documents are there twice'],
    [Math.abs(head.documents - records.length), 'documents more or less than were counted when written'],
    [Math.abs(head.chunks - all), 'chunks more or less than were counted when written'],
  ];
  return [
    ...(described?.status === 'red' ? [`The server says that something is wrong with ${chunks}.`] : []),
    ...problems.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}.`),
  ];
}
