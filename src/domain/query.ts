import * as z from 'zod';
import { AppError } from '../faults/app-error.ts';
import { parseOrThrow } from '../faults/parse-or-throw.ts';
import { oneLine } from '../text/visible-text.ts';

/** Accepted values by key (module, chapter, url, title or a metadata key). A document must match every key. */
export const filterSchema = z.record(z.string().min(1), z.array(z.string().min(1)).min(1));
export type Filter = z.infer<typeof filterSchema>;

export const MAX_QUERY_TOP_K = 100;

const querySchema = z.object({
  text: z.string().trim().min(1, 'the text is blank'),
  topK: z.int().min(1).max(MAX_QUERY_TOP_K).default(5),
  filter: filterSchema.default({}),
  /** Default: that of the retriever. */
  scoreThreshold: z.number().min(0).max(1).optional(),
});
export type Query = z.infer<typeof querySchema>;

/** Throws `invalid_input`. */
export function createQuery(input: z.input<typeof querySchema>): Query {
  return parseOrThrow(querySchema, input, 'The query');
}

/** Parses `key=value` expressions; a repeated key accepts several values. Throws `invalid_input`. */
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
  // Copying an object drops the key __proto__, which would widen the filter.
  if (equals < 0 || key === '' || value === '' || key === '__proto__') {
    throw new AppError(
      'invalid_input',
      `The filter "${oneLine(expression, 60)}" is not of the form key=value.`,
      {
        hint: 'Write for example module=basics. Repeat a key to accept several values.',
      },
    );
  }
  return { key, value };
}

/** The filter as `key=value` expressions. */
export function formatFilter(filter: Filter): string {
  return Object.entries(filter)
    .flatMap(([key, values]) => values.map((value) => `${key}=${value}`))
    .join(' ');
}

export function isEmptyFilter(filter: Filter): boolean {
  return Object.keys(filter).length === 0;
}
