import * as z from 'zod';

const numberSchema = z.int().min(1);

/** A position in a document: lines of a text, pages of a PDF, cells of a notebook, rows of a sheet. From 1, inclusive. */
export const locationSchema = z
  .object({ unit: z.enum(['line', 'page', 'cell', 'row']), from: numberSchema, to: numberSchema })
  .refine(({ from, to }) => from <= to, { error: 'a location must not end before it begins', path: ['to'] });
export type SourceLocation = z.infer<typeof locationSchema>;

export function lineRange(from: number, to: number): SourceLocation {
  return { unit: 'line', from, to };
}

/** The location that covers both; the first one if their units differ. */
export function mergeLocations(
  a: SourceLocation | undefined,
  b: SourceLocation | undefined,
): SourceLocation | undefined {
  if (a === undefined || b === undefined || a.unit !== b.unit) return a ?? b;
  return { unit: a.unit, from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
}
