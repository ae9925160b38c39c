import { isSourceUrl } from './retrieved-chunk.ts';

const BLANK = '(blank)';

/** Fields that earlier versions wrote under another name, in session records, tapes and reports. */
const RENAMED_FIELDS: Readonly<Record<string, string>> = {
  borneOutBy: 'evidence', // language-test-allow
};

/** Values that earlier versions wrote, by the name of their field. */
const RENAMED_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  verdict: { weak: 'supported' },
  checkedBy: { judge: 'words' },
};

/** A copy of a parsed JSON value with the current names of renamed fields and values, at any depth. */
export function renameLegacyFields(value: unknown): unknown {
  return mapObjects(value, (record) => {
    const fields = Object.entries(record).map(([name, field]) => {
      const renamed = typeof field === 'string' ? RENAMED_VALUES[name]?.[field] : undefined;
      return [RENAMED_FIELDS[name] ?? name, renamed ?? field];
    });
    return Object.fromEntries(fields);
  });
}

/**
 * Turns a message or turn of an earlier version into one that the current schemas accept: renames fields, fills blank
 * texts, escapes addresses that are not URLs and counts at least one token per passage.
 */
export function migrateRecord(value: unknown): unknown {
  return mapObjects(renameLegacyFields(value), (fields) => {
    const record = { ...fields };
    if (isBlank(record.answer) && record.error === null) record.answer = BLANK;
    const hasToolCalls = Array.isArray(record.toolCalls) && record.toolCalls.length > 0;
    if (isBlank(record.content) && !hasToolCalls) record.content = BLANK;
    if (typeof record.url === 'string' && record.url !== '' && !isSourceUrl(record.url)) {
      record.url = `unknown:${encodeURIComponent(record.url)}`;
    }
    // Only passages have both fields.
    if ('contentHash' in record && 'tokenCount' in record) {
      if (isBlank(record.text)) record.text = BLANK;
      if (record.tokenCount === 0) record.tokenCount = 1;
    }
    return record;
  });
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Replaces every object in a JSON value, innermost first. */
function mapObjects(value: unknown, replace: (record: JsonObject) => Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, mapObjects(field, replace)]);
  return replace(Object.fromEntries(fields));
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}
