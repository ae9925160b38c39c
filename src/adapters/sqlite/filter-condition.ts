import type { Filter } from '../../domain/filter.ts';
import type { SqlCondition } from './full-text.ts';

const COLUMNS = new Set(['module', 'chapter', 'title', 'url', 'uri']);

/** The ids of the chunks that pass a filter, as SQL; null if there is nothing to filter by. */
export function filterCondition(filter: Filter): SqlCondition | null {
  const entries = Object.entries(filter);
  if (entries.length === 0) return null;
  const parameters: string[] = [];
  const tests = entries.map(([key, values]) => {
    const column = COLUMNS.has(key) ? `document.${key}` : 'document.metadata ->> ?';
    if (!COLUMNS.has(key)) parameters.push(`$.${JSON.stringify(key)}`);
    parameters.push(...values);
    return `${column} IN (${values.map(() => '?').join()})`;
  });
  return {
    sql: `SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id WHERE ${tests.join(' AND ')}`,
    parameters,
  };
}
