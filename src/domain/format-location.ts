// Separate from the schema: the web pages use this file and must not bundle zod.
import type { SourceLocation } from './location.ts';

/** `line 3`, `lines 3–9`, `page 2`. */
export function formatLocation({ unit, from, to }: SourceLocation): string {
  return from === to ? `${unit} ${from}` : `${unit}s ${from}–${to}`;
}

/** Pages of code hosts that have line anchors. */
const NUMBERED_SOURCE = /^https?:\/\/[^?#]+\/(blob|src)\/[^?#]+$/i;

/** The URL with an anchor for a PDF page or for lines on a code host; others are returned unchanged. */
export function linkToLocation(url: string, location: SourceLocation | undefined): string {
  if (location === undefined || url.includes('#')) return url;
  if (location.unit === 'page') return `${url}#page=${location.from}`;
  if (location.unit !== 'line' || !NUMBERED_SOURCE.test(url)) return url;
  return location.from === location.to
    ? `${url}#L${location.from}`
    : `${url}#L${location.from}-L${location.to}`;
}

export function isWebUrl(url: string): boolean {
  return /^https?:/i.test(url);
}

/** A file URL as a path; any other URL unchanged. */
export function toDisplayUrl(url: string): string {
  if (isWebUrl(url)) return url;
  return decodeUrl(url.replace(/^file:\/\//, ''));
}

/** The text itself if it is not valid percent-encoding. */
export function decodeUrl(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
