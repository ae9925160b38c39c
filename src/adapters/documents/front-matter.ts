import { parse } from 'yaml';

/** Opens with a key, so that text between two rules at the top of a document is not taken for fields. */
const FRONT_MATTER =
  /^---[ \t]*\n((?:[ \t]*(?:#.*)?\n)*["']?\w[\w ./-]*["']?[ \t]*:(?:[ \t].*)?\n(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** Takes YAML front matter off a document. */
export function takeFrontMatter(source: string): { metadata: Record<string, string>; body: string } {
  const [whole = '', yaml = ''] = FRONT_MATTER.exec(source) ?? [];
  return { metadata: readFields(yaml), body: source.slice(whole.length) };
}

/** The scalar fields of YAML front matter as they are written; lists of scalars are joined. Empty if it is broken. */
function readFields(yaml: string): Record<string, string> {
  const fields = Object.entries(parseFields(yaml)).flatMap(([key, value]): [string, string][] => {
    const text = Array.isArray(value) ? value.map(scalarText).filter(Boolean).join(', ') : scalarText(value);
    return text === '' ? [] : [[key, text]];
  });
  return Object.fromEntries(fields);
}

/** By the failsafe schema every scalar stays a string, so version 1.10 does not turn into 1.1. */
function parseFields(yaml: string): object {
  try {
    const parsed: unknown = parse(yaml, { schema: 'failsafe', logLevel: 'error' });
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function scalarText(value: unknown): string {
  return typeof value === 'string' && value !== 'null' && value !== '~' ? value.trim() : '';
}
