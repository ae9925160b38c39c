/** A range of a text: `text.slice(start, end)`. */
export interface Span {
  start: number;
  end: number;
}

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

export function sentences(text: string, span: Span): Span[] {
  const segments = sentenceSegmenter.segment(text.slice(span.start, span.end));
  return trimmed(
    text,
    Array.from(segments, ({ index, segment }) => at(span.start + index, segment.length)),
  );
}

/** Lines keep their indentation: it means something in code. */
export function lines(text: string, { start, end }: Span): Span[] {
  const found = text.slice(start, end).matchAll(/[^\n]*\S/g);
  return Array.from(found, (match) => at(start + match.index, match[0].length));
}

export function words(text: string, span: Span): Span[] {
  return matches(text, span, /\S+/g);
}

/** Two halves, cut between code points. */
export function halves(text: string, span: Span): Span[] {
  let middle = (span.start + span.end) >>> 1;
  const code = text.charCodeAt(middle);
  if (code >= 0xdc00 && code <= 0xdfff) middle += middle + 1 < span.end ? 1 : -1;
  return trimmed(text, [
    { start: span.start, end: middle },
    { start: middle, end: span.end },
  ]);
}

function matches(text: string, span: Span, pattern: RegExp): Span[] {
  const found = text.slice(span.start, span.end).matchAll(pattern);
  return trimmed(
    text,
    Array.from(found, (match) => at(span.start + match.index, match[0].length)),
  );
}

function at(start: number, length: number): Span {
  return { start, end: start + length };
}

/** Without white space at the ends, and without what is nothing else. */
function trimmed(text: string, spans: readonly Span[]): Span[] {
  return spans.flatMap(({ start, end }) => {
    const piece = text.slice(start, end);
    const lead = piece.length - piece.trimStart().length;
    const length = piece.trim().length;
    return length === 0 ? [] : [at(start + lead, length)];
  });
}
