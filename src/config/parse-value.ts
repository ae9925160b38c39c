import * as z from 'zod';
import { AppError, type ErrorKind } from '../faults/app-error.ts';

/** Parses a value. The description of the schema says what is allowed, for the error. */
export function parseValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { subject, kind }: { subject: string; kind: ErrorKind },
): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success && result.data !== undefined) return result.data;
  throw new AppError(kind, `${subject} must be ${schema.description ?? 'given'}${formatRejected(value)}.`);
}

/** The value of a flag that is not a setting. Throws `invalid_input`. */
export function parseFlag<Schema extends z.ZodType>(
  flag: `--${string}`,
  value: unknown,
  schema: Schema,
): z.infer<Schema> | undefined {
  return value === undefined
    ? undefined
    : parseValue(schema, value, { subject: flag, kind: 'invalid_input' });
}

export function integerSchema(least: number, most?: number) {
  const number = z.int().min(least);
  return most === undefined
    ? number.describe(`a whole number, at least ${least}`)
    : number.max(most).describe(`a whole number from ${least} to ${most}`);
}

export const httpUrlSchema = z.url({ protocol: /^https?$/ }).describe('an http or https URL');

export function sameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}

export const portSchema = integerSchema(0, 65_535);

export const numberListSchema = z
  .string()
  .transform((text) => splitList(text).map(Number))
  .pipe(z.array(z.number()))
  .describe('a comma-separated list of numbers');

export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Long values are not repeated, because they may be a misplaced key. */
function formatRejected(value: unknown): string {
  const text = String(value);
  return /^[\w.+-]{1,12}$/.test(text) && text !== 'NaN' ? `, not ${text}` : '';
}
