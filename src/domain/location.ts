import * as z from 'zod';

const numberSchema = z.int().min(1);

/**
 * Where in its document a piece of text stands, as far as the format tells: lines of a text, pages of a PDF,
 * cells of a notebook, rows of a sheet. Counted from 1, both ends included.
 */
export const locationSchema = z
  .object({ unit: z.enum(['line', 'page', 'cell', 'row']), from: numberSchema, to: numberSchema })
  .refine(({ from, to }) => from <= to, { error: 'a location ends where it begins or later', path: ['to'] });
export type Location = z.infer<typeof locationSchema>;

/** The lines from `from` to `to`. */
export function lines(from: number, to: number): Location {
  return { unit: 'line', from, to };
}

/** From where the first begins to where the last ends; of two kinds of places, the first. */
export function spanning(a: Location | undefined, b: Location | undefined): Location | undefined {
  if (a === undefined || b === undefined || a.unit !== b.unit) return a ?? b;
  return { unit: a.unit, from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
}
