import type { ReportData } from '../report-data.ts';
import { joined } from './numbers.ts';
import { type PageLimits, packCases } from './pack-cases.ts';

/** Under 5 MB with all the rest of the page. */
const MOST_BYTES = 4_600_000;
const WHOLE = Number.POSITIVE_INFINITY;
const LIMITS: readonly PageLimits[] = [
  { excerpt: WHOLE, answer: WHOLE, hits: WHOLE },
  { excerpt: 160, answer: WHOLE, hits: WHOLE },
  { excerpt: 100, answer: 2000, hits: WHOLE },
  { excerpt: 80, answer: 1000, hits: 5 },
  { excerpt: 60, answer: 500, hits: 3 },
  { excerpt: 40, answer: 250, hits: 1 },
];

export interface EmbeddedData {
  /** JSON that can stand inside a script element. */
  json: string;
  /** What was cut so that the page stays small, as a sentence; null if nothing was. */
  shortened: string | null;
}

/** The cases as JSON. Where they would make the page too large, passages and then answers are cut, and it is said. */
export function embedData(data: ReportData): EmbeddedData {
  let made: EmbeddedData = { json: '', shortened: null };
  for (const limits of LIMITS) {
    made = { json: scriptJson(packCases(data, limits)), shortened: sentenceOn(limits) };
    if (Buffer.byteLength(made.json) <= MOST_BYTES) break;
  }
  return made;
}

/** Without a `<`, JSON can neither end its script element nor open a comment in it. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

function sentenceOn({ excerpt, answer, hits }: PageLimits): string | null {
  if (excerpt === WHOLE) return null;
  const cuts = [
    `passages are cut to ${excerpt} characters`,
    ...(answer === WHOLE ? [] : [`answers to ${answer}`]),
    ...(hits === WHOLE
      ? []
      : [
          hits === 1
            ? 'only the best passage of a search is shown'
            : `only the best ${hits} passages of a search are shown`,
        ]),
  ];
  return `To keep the page small, ${joined(cuts)}. All of it is in the report that --json writes.`;
}
