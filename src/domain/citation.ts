import * as z from 'zod';
import { cutText } from './cut-text.ts';
import { type RetrievedChunk, scoreSchema } from './retrieved-chunk.ts';
import { oneLine } from './visible-text.ts';

export const MAX_EXCERPT = 200;

/** `weak`: nothing contradicts the sentence, but too few of its words are in the chunk. */
export const verdictSchema = z.enum(['supported', 'weak', 'unsupported', 'unknown_source']);
export type Verdict = z.infer<typeof verdictSchema>;

const fields = {
  /** What the answer says to point at the chunk: the `ref` of the tool response. */
  marker: z.string().min(1),
  title: z.string(),
  url: z.string(),
  score: scoreSchema,
  excerpt: z.string().max(MAX_EXCERPT),
  module: z.string().nullable(),
};

/** A chunk that an answer may point at, before any answer was checked. */
export const citableSchema = z.object({ ...fields, chunkId: z.string().min(1) });
export type Citable = z.infer<typeof citableSchema>;

/** What an answer points at, and whether the chunk bears it out. An unknown source has no chunk. */
export const citationSchema = z
  .object({ ...fields, chunkId: z.string().min(1).nullable(), verdict: verdictSchema })
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

export function citationPassed(citation: Pick<Citation, 'verdict'>): boolean {
  return citation.verdict === 'supported';
}

/** `[Source: title](url)`: exactly one Markdown link, whatever the title and the address hold. */
export function formatCitation({ title, url }: { title: string; url: string }): string {
  return `[Source: ${escapeTitle(title === '' ? url : title)}](${escapeUrl(url)})`;
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
