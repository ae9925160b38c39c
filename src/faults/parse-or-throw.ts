import type * as z from 'zod';
import { oneLine } from '../text/visible-text.ts';
import { AppError, type ErrorKind } from './app-error.ts';

/** Parses external data. Throws an AppError that names the first problem and its path. */
export function parseOrThrow<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  kind: ErrorKind = 'invalid_input',
): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const place = issue?.path.length ? ` at ${issue.path.map(String).join('.')}` : '';
  const problem = oneLine(issue?.message ?? 'unknown problem', 200);
  throw new AppError(kind, `${what} is not valid${place}: ${problem}.`, { cause: result.error });
}
