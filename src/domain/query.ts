import * as z from 'zod';
import { AppError } from '../faults/app-error.ts';
import { validated } from '../faults/validated.ts';
import { oneLine } from '../text/visible-text.ts';

/** Accepted values by key (module, chapter, url, title or any metadata key): every key, any of its values. */
export const filterSchema = z.record(z.string().min(1), z.array(z.string().min(1)).min(1));
export type Filter = z.infer<typeof filterSchema>;

export const MAX_QUERY_TOP_K = 100;

/** What is looked up: a text and how many chunks at most, from the documents that the filter lets through. */
const querySchema = z.object({
  text: z.string().trim().min(1, 'the text is blank'),
  topK: z.int().min(1).max(MAX_QUERY_TOP_K).default(5),
  filter: filterSchema.default({}),
  /** From which score on a chunk is wanted; the retriever's own unless given. */
  scoreThreshold: z.number().min(0).max(1).optional(),
});
export type Query = z.infer<typeof querySchema>;

/** Throws `invalid_input`. */
export function createQuery(input: z.input<typeof querySchema>): Query {
  return validated(querySchema, input, 'The query');
}

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

/** A filter as a person would write it. */
export function formatFilter(filter: Filter): string {
  return Object.entries(filter)
    .flatMap(([key, values]) => values.map((value) => `${key}=${value}`))
    .join(' ');
}

export function isEmptyFilter(filter: Filter): boolean {
  return Object.keys(filter).length === 0;
}
