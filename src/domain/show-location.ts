// Apart from the schema, so that pages can show places without a schema library in them.
import type { Location } from './location.ts';

/** As a person reads it: `line 3`, `lines 3–9`, `page 2`. */
export function describeLocation({ unit, from, to }: Location): string {
  return from === to ? `${unit} ${from}` : `${unit}s ${from}–${to}`;
}

/** Pages that show a source with numbers on its lines. */
const NUMBERED_SOURCE = /^https?:\/\/[^?#]+\/(blob|src)\/[^?#]+$/i;

/** The address of that very place, where addresses can say it: a page of a PDF, lines on a host of code. */
export function linkTo(url: string, location: Location | undefined): string {
  if (location === undefined || url.includes('#')) return url;
  if (location.unit === 'page') return `${url}#page=${location.from}`;
  if (location.unit !== 'line' || !NUMBERED_SOURCE.test(url)) return url;
  return location.from === location.to
    ? `${url}#L${location.from}`
    : `${url}#L${location.from}-L${location.to}`;
}
