import * as z from 'zod';
import { AppError } from './app-error.ts';
import { oneLine } from './visible-text.ts';

/** Accepted values by key (module, chapter, url, title or any metadata key): every key, any of its values. */
export const filterSchema = z.record(z.string().min(1), z.array(z.string().min(1)).min(1));
export type Filter = z.infer<typeof filterSchema>;

/** Reads `key=value` expressions; the same key given again accepts either value. Throws `invalid_input`. */
export function parseFilter(expressions: readonly string[]): Filter {
  const accepted = new Map<string, Set<string>>();
  for (const expression of expressions) {
    const { key, value } = parseExpression(expression);
    accepted.set(key, (accepted.get(key) ?? new Set()).add(value));
  }
  return Object.fromEntries(Array.from(accepted, ([key, values]) => [key, [...values]]));
}

function parseExpression(expression: string): { key: string; value: string } {
  const equals = expression.indexOf('=');
  const key = expression.slice(0, equals).trim();
  const value = expression.slice(equals + 1).trim();
  // Copying an object drops a key of this name, and a filter must never widen in silence.
  if (equals < 0 || key === '' || value === '' || key === '__proto__') {
    throw new AppError(
      'invalid_input',
      `The filter "${oneLine(expression, 60)}" is not of the form key=value.`,
      {
        hint: 'Write for example module=basics; repeat a key to accept more than one value.',
      },
    );
  }
  return { key, value };
}

/** Whether a document or chunk with these fields passes. A field that is missing never does. */
export function matchesFilter(
  filter: Filter,
  fields: Readonly<Record<string, string | null | undefined>>,
): boolean {
  return Object.entries(filter).every(([key, values]) => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return typeof field === 'string' && values.includes(field);
  });
}

/** A filter as a person would write it. */
export function formatFilter(filter: Filter): string {
  return Object.entries(filter)
    .flatMap(([key, values]) => values.map((value) => `${key}=${value}`))
    .join(' ');
}

export function isEmptyFilter(filter: Filter): boolean {
  return Object.keys(filter).length === 0;
}
