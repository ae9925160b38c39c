import { parse } from 'yaml';

/** The scalar fields of YAML front matter as they are written; lists of scalars are joined. Empty if it is broken. */
export function readFrontMatter(yaml: string): Record<string, string> {
  const fields = Object.entries(parseFields(yaml)).flatMap(([key, value]): [string, string][] => {
    const text = Array.isArray(value) ? value.map(scalarText).filter(Boolean).join(', ') : scalarText(value);
    return text === '' ? [] : [[key, text]];
  });
  return Object.fromEntries(fields);
}

/** By the failsafe schema every scalar stays a string, so version 1.10 does not turn into 1.1. */
function parseFields(yaml: string): object {
  try {
    const parsed: unknown = parse(yaml, { schema: 'failsafe', logLevel: 'silent' });
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function scalarText(value: unknown): string {
  return typeof value === 'string' && value !== 'null' && value !== '~' ? value.trim() : '';
}
