import { isAddress } from '../../domain/retrieved-chunk.ts';

const BLANK = '(blank)';

/**
 * A message or a turn as an earlier version wrote it, so that today's schemas take it: what is blank there gets a
 * word, what is no address gets the escapes that make it one, and no passage is without tokens. All else stays.
 */
export function mendRecord(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mendRecord);
  if (typeof value !== 'object' || value === null) return value;
  const record: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, mendRecord(field)]),
  );
  if (isBlank(record.answer) && record.error === null) record.answer = BLANK;
  if (isBlank(record.content) && !hasItems(record.toolCalls)) record.content = BLANK;
  if (typeof record.url === 'string' && record.url !== '' && !isAddress(record.url)) {
    record.url = `unknown:${encodeURIComponent(record.url)}`;
  }
  // A passage, and nothing else, has both.
  if ('contentHash' in record && 'tokenCount' in record) {
    if (isBlank(record.text)) record.text = BLANK;
    if (record.tokenCount === 0) record.tokenCount = 1;
  }
  return record;
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
