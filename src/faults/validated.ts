import type * as z from 'zod';
import { oneLine } from '../text/visible-text.ts';
import { AppError, type ErrorKind } from './app-error.ts';

/** A value from outside, checked; throws an AppError that names the first fault and where it lies. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  kind: ErrorKind = 'invalid_input',
): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const fault = result.error.issues[0];
  const place = fault?.path.length ? ` at ${fault.path.map(String).join('.')}` : '';
  throw new AppError(
    kind,
    `${what} is not valid${place}: ${oneLine(fault?.message ?? 'unknown fault', 200)}.`,
    {
      cause: result.error,
    },
  );
}
