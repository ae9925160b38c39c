import * as z from 'zod';

/** What is read of a point that others have put into a vector database. */
export const MAPPED_FIELDS = ['text', 'url', 'title', 'module', 'chapter', 'headings', 'chunkIndex'] as const;
export type MappedField = (typeof MAPPED_FIELDS)[number];

const fieldName = z.string().trim().min(1);

/** The payload field that holds each of ours, such as `{ text: 'body' }`; a dot leads into an object. */
const mapSchema = z.strictObject({
  text: fieldName.optional(),
  url: fieldName.optional(),
  title: fieldName.optional(),
  module: fieldName.optional(),
  chapter: fieldName.optional(),
  headings: fieldName.optional(),
  chunkIndex: fieldName.optional(),
} satisfies Record<MappedField, z.ZodType>);
export type PayloadMap = z.infer<typeof mapSchema>;

/** As an object, or as text: `text=chunk_text,url=source_url`. */
export const payloadMapSchema = z.preprocess(
  (value) => (typeof value === 'string' ? fromPairs(value) : value),
  mapSchema,
);

function fromPairs(text: string): unknown {
  const pairs = text.split(',').map((pair) => pair.split('='));
  const whole = pairs.every(([name, field, ...more]) => name && field && more.length === 0);
  return whole ? Object.fromEntries(pairs.map(([name = '', field]) => [name.trim(), field])) : text;
}
