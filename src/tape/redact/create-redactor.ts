import { AppError } from '../../domain/app-error.ts';
import { KEY_PATTERNS, SECRET_FIELD } from './key-patterns.ts';
import { secretVariants } from './secret-variants.ts';

export const MASK = '[redacted]';

export interface RedactorOptions {
  /** Values that must not appear, in any spelling: the configured keys. */
  secrets?: readonly string[];
  /** Regular expressions of the user's. */
  patterns?: readonly string[];
}

export type Range = [start: number, end: number];

export interface Redactor {
  /** What is to be removed from a text, in order and apart. */
  ranges(text: string): Range[];
  text(text: string): string;
  /** A JSON value with its keys, texts and numbers redacted, and the fields that hold secrets by their name. */
  value<T>(value: T): T;
  /** Bytes of no known meaning: a secret is written over, the length stays. */
  bytes(bytes: Uint8Array): Uint8Array;
  /** Whether the value of a secret stands in a text; looks for the given secrets alone, not for patterns. */
  holdsSecret(text: string): boolean;
}

/** Throws `invalid_input` for a pattern that is no regular expression. */
export function createRedactor({ secrets = [], patterns = [] }: RedactorOptions = {}): Redactor {
  const exact = exactPattern(secrets);
  const all = [...(exact ? [exact] : []), ...patterns.map(userPattern), ...KEY_PATTERNS];

  function ranges(text: string): Range[] {
    const found: Range[] = [];
    for (const pattern of all) {
      for (const match of text.matchAll(pattern)) {
        const [whole, secret = whole] = match;
        const start = match.index + whole.lastIndexOf(secret);
        if (secret !== '') found.push([start, start + secret.length]);
      }
    }
    return merged(found);
  }

  function redactText(text: string): string {
    const found = ranges(text);
    if (found.length === 0) return text;
    let redacted = '';
    let at = 0;
    for (const [start, end] of found) {
      redacted += text.slice(at, start) + MASK;
      at = end;
    }
    return redacted + text.slice(at);
  }

  function redactValue(value: unknown): unknown {
    if (typeof value === 'string') return redactText(value);
    if (typeof value === 'number') return ranges(String(value)).length > 0 ? MASK : value;
    if (Array.isArray(value)) return value.map(redactValue);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        redactText(key),
        SECRET_FIELD.test(key) && each !== null ? MASK : redactValue(each),
      ]),
    );
  }

  return {
    ranges,
    text: redactText,
    value: <T>(value: T) => redactValue(value) as T,
    bytes(bytes) {
      const text = Buffer.from(bytes).toString('latin1');
      const found = exact === null ? [] : Array.from(text.matchAll(exact));
      if (found.length === 0) return bytes;
      const copy = Buffer.from(bytes);
      for (const { 0: match, index } of found) copy.fill('x', index, index + match.length);
      return copy;
    },
    holdsSecret: (text) => exact !== null && text.search(exact) >= 0,
  };
}

function exactPattern(secrets: readonly string[]): RegExp | null {
  const variants = [...new Set(secrets.flatMap(secretVariants))].sort((a, b) => b.length - a.length);
  return variants.length === 0 ? null : new RegExp(variants.map(escaped).join('|'), 'gi');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function userPattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'g');
  } catch (error) {
    throw new AppError('invalid_input', `--redact ${pattern} is not a regular expression.`, {
      hint: 'Write it as in JavaScript, for example --redact "ACME-\\d+".',
      cause: error,
    });
  }
}

function merged(ranges: Range[]): Range[] {
  const result: Range[] = [];
  for (const range of ranges.sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && range[0] <= last[1]) last[1] = Math.max(last[1], range[1]);
    else result.push(range);
  }
  return result;
}
