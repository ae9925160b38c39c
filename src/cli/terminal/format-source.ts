import type { Verdict } from '../../domain/citation.ts';
import { formatLocation, isWebUrl, linkToLocation, toDisplayUrl } from '../../domain/format-location.ts';
import type { SourceLocation } from '../../domain/location.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Terminal } from './terminal.ts';
import type { LinePiece } from './wrap-text.ts';

const VERDICT_STYLES: Record<Verdict, 'green' | 'yellow' | 'red'> = {
  quoted: 'green',
  supported: 'green',
  unsupported: 'yellow',
  unknown_source: 'red',
};

export function verdictPiece(terminal: Terminal, verdict: Verdict): LinePiece {
  return {
    text: verdict.replace('_', ' '),
    paint: (text) => terminal.text(text, VERDICT_STYLES[verdict]),
  };
}

export function formatMarker(marker: string): string {
  return `[${oneLine(marker, 20)}]`;
}

/** Marks a source whose file was deleted after it was indexed. */
export function missingFilePiece(terminal: Terminal): LinePiece {
  return { text: '(file deleted)', paint: (text) => terminal.text(text, 'yellow') };
}

/** `Title › Heading, lines 3–9` */
export function formatSourcePlace({
  title,
  headings,
  location,
}: Pick<RetrievedChunk, 'title' | 'headings' | 'location'>): string {
  // The first heading often repeats the title.
  const below = headings[0] === title ? headings.slice(1) : headings;
  const path = [title, ...below].map((part) => oneLine(part, 60)).join(' › ');
  return location === undefined ? path : `${path}, ${formatLocation(location)}`;
}

/** A location in a document. */
export interface SourcePlace {
  url: string;
  /** The file that was read on this machine. */
  uri?: string | undefined;
  location?: SourceLocation | undefined;
}

/** The URL that a click opens: the web page, or the local file, at the line or page if the URL can say it. */
export function toSourceLink({ url, uri, location }: SourcePlace): string {
  if (isWebUrl(url)) return linkToLocation(url, location);
  return uri !== undefined && location?.unit === 'line'
    ? `${uri}#${location.from}`
    : linkToLocation(uri ?? url, location);
}

/** A file URL as a path; any other URL unchanged. */
export function formatUrl(url: string): string {
  return oneLine(toDisplayUrl(url), 300);
}
