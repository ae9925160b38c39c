import { findMarkers } from '../../agent/citations/find-markers.ts';
import type { Citation } from '../../domain/citation.ts';
import type { UrlCitation } from '../wire/answer.ts';

/** The places of a text that point at sources which bear it out, at least in part. */
export function urlCitations(text: string, citations: readonly Citation[]): UrlCitation[] {
  const byMarker = new Map(citations.map((citation) => [citation.marker, citation]));
  const known = { knows: (ref: string) => byMarker.has(ref), isTitle: () => false };
  return findMarkers(text, known).flatMap(({ start, end, references }) =>
    references.flatMap(({ name }) => {
      const citation = byMarker.get(name);
      if (citation?.verdict !== 'supported' && citation?.verdict !== 'weak') return [];
      return [{ start, end, url: citation.url, title: citation.title }];
    }),
  );
}
