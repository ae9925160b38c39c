import * as z from 'zod';
import { cutText, oneLine } from '../text/visible-text.ts';
import { formatLocation, linkToLocation } from './format-location.ts';
import { locationSchema } from './location.ts';
import { type RetrievedChunk, scoreSchema, sourceUrlSchema } from './retrieved-chunk.ts';

/** Characters. */
export const MAX_EXCERPT_LENGTH = 200;

/** `quoted`: the source has the same words. `unsupported` is a flag, which always has a reason. */
export const verdictSchema = z.enum(['quoted', 'supported', 'unsupported', 'unknown_source']);
export type Verdict = z.infer<typeof verdictSchema>;

const fields = {
  /** What the answer writes in brackets: the `ref` of the tool response. */
  marker: z.string().min(1),
  title: z.string(),
  url: sourceUrlSchema,
  score: scoreSchema,
  excerpt: z.string().max(MAX_EXCERPT_LENGTH),
  module: z.string().nullable(),
  /** The position in the document, if the format has one. */
  location: locationSchema.optional(),
};

/** A retrieved chunk that an answer may cite. */
const citableSchema = z.object({ ...fields, chunkId: z.string().min(1) });
export type CitableSource = z.infer<typeof citableSchema>;

/** A source that an answer cites, and whether it supports the answer. An unknown source has no chunk. */
export const citationSchema = z.object({
  ...fields,
  url: z.union([sourceUrlSchema, z.literal('')]),
  chunkId: z.string().min(1).nullable(),
  verdict: verdictSchema,
  /** Set if the cited file no longer existed. */
  gone: z.literal(true).optional(),
});
export type Citation = z.infer<typeof citationSchema>;

export function toCitableSource(chunk: RetrievedChunk, marker: string): CitableSource {
  return {
    marker,
    title: chunk.title,
    url: chunk.url,
    score: chunk.score,
    excerpt: cutText(chunk.text.trim(), MAX_EXCERPT_LENGTH),
    module: chunk.module,
    ...(chunk.location && { location: chunk.location }),
    chunkId: chunk.chunkId,
  };
}

export function toCitation(citable: CitableSource, verdict: Exclude<Verdict, 'unknown_source'>): Citation {
  return { ...citable, verdict };
}

/** A citation of a source that was never retrieved. */
export function createUnknownCitation(marker: string): Citation {
  const emptyFields = { title: '', url: '', score: 0, excerpt: '', module: null, chunkId: null };
  return { marker, ...emptyFields, verdict: 'unknown_source' };
}

export function isPassedCitation(citation: { verdict: Verdict | null }): boolean {
  return citation.verdict === 'quoted' || citation.verdict === 'supported';
}

/** `[Source: title, lines 3–9](url)`: exactly one Markdown link for any title and URL. */
export function formatCitation({
  title,
  url,
  location,
}: Pick<Citation, 'title' | 'url' | 'location'>): string {
  const where = location === undefined ? '' : `, ${formatLocation(location)}`;
  return `[Source: ${escapeTitle(title === '' ? url : title)}${where}](${escapeUrl(linkToLocation(url, location))})`;
}

// Some readers ignore backslash escapes and would see `](`, so a parenthesis after a bracket is escaped too; others stay
// readable, as in "Functions (basics)".
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
