import * as z from 'zod';
import { cutText, oneLine } from '../text/visible-text.ts';
import { type Location, locationSchema } from './location.ts';
import { addressSchema, type RetrievedChunk, scoreSchema } from './retrieved-chunk.ts';
import { describeLocation, linkTo } from './show-location.ts';

export const MAX_EXCERPT = 200;

/** `quoted`: it stands there word for word. `weak`: nothing contradicts it, but too little is known to bear it out. */
export const verdictSchema = z.enum(['quoted', 'supported', 'weak', 'unsupported', 'unknown_source']);
export type Verdict = z.infer<typeof verdictSchema>;

const fields = {
  /** What the answer says to point at the chunk: the `ref` of the tool response. */
  marker: z.string().min(1),
  title: z.string(),
  url: addressSchema,
  score: scoreSchema,
  excerpt: z.string().max(MAX_EXCERPT),
  module: z.string().nullable(),
  /** Where the chunk stands in its document, if the format tells. */
  location: locationSchema.optional(),
};

/** A chunk that an answer may point at, before any answer was checked. */
const citableSchema = z.object({ ...fields, chunkId: z.string().min(1) });
export type Citable = z.infer<typeof citableSchema>;

/** What an answer points at, and whether the chunk bears it out. An unknown source has no chunk. */
export const citationSchema = z
  .object({
    ...fields,
    url: z.union([addressSchema, z.literal('')]),
    chunkId: z.string().min(1).nullable(),
    verdict: verdictSchema,
    /** Whether the file was no longer there when the answer cited it; left out where it was, or nobody can tell. */
    gone: z.literal(true).optional(),
  })
  .refine((citation) => (citation.url === '') === (citation.verdict === 'unknown_source'), {
    error: 'a citation has an address unless its source is unknown',
    path: ['url'],
  })
  .refine((citation) => (citation.chunkId === null) === (citation.verdict === 'unknown_source'), {
    error: 'a citation has a chunk unless its source is unknown',
    path: ['chunkId'],
  });
export type Citation = z.infer<typeof citationSchema>;

export function toCitable(chunk: RetrievedChunk, marker: string): Citable {
  return {
    marker,
    title: chunk.title,
    url: chunk.url,
    score: chunk.score,
    excerpt: cutText(chunk.text.trim(), MAX_EXCERPT),
    module: chunk.module,
    ...(chunk.location && { location: chunk.location }),
    chunkId: chunk.chunkId,
  };
}

export function withVerdict(citable: Citable, verdict: Exclude<Verdict, 'unknown_source'>): Citation {
  return { ...citable, verdict };
}

/** A marker that points at nothing that was retrieved. */
export function unknownCitation(marker: string): Citation {
  const nothing = { title: '', url: '', score: 0, excerpt: '', module: null, chunkId: null };
  return { marker, ...nothing, verdict: 'unknown_source' };
}

export function citationPassed(citation: { verdict: Verdict | null }): boolean {
  return citation.verdict === 'quoted' || citation.verdict === 'supported';
}

/** `[Source: title, lines 3–9](url)`: exactly one Markdown link, whatever the title and the address hold. */
export function formatCitation({
  title,
  url,
  location,
}: {
  title: string;
  url: string;
  location?: Location | undefined;
}): string {
  const where = location === undefined ? '' : `, ${describeLocation(location)}`;
  return `[Source: ${escapeTitle(title === '' ? url : title)}${where}](${escapeUrl(linkTo(url, location))})`;
}

// Readers that know no backslash escapes would still see `](`, so an opening parenthesis after a bracket
// is escaped too; elsewhere parentheses stay as they are, for "Functions (basics)" to read well.
function escapeTitle(title: string): string {
  return oneLine(title, Number.POSITIVE_INFINITY)
    .replace(/[\\[\]`<>]/g, '\\$&')
    .replace(/\](\s*)\(/g, ']$1\\(');
}

function escapeUrl(url: string): string {
  return oneLine(url, Number.POSITIVE_INFINITY).replace(
    /[\s()<>[\]\\]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
