import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { type NumberFact, numbersIn } from './claim-facts.ts';
import { termsOf } from './claim-terms.ts';
import { oncePerChunk } from './once-per-chunk.ts';
import { type Word, withoutMarkup, wordsOf } from './plain-words.ts';
import { wordingOf } from './wording.ts';

export type EvidenceSource = Pick<RetrievedChunk, 'text' | 'title' | 'headings'>;

/** A sentence of the chunk, or a clause of one that has a subject of its own. */
export interface EvidenceClause {
  words: Word[];
  terms: ReadonlySet<string>;
  numbers: NumberFact[];
  /** Its prose in lower case, to look at what stands around a number. */
  prose: string;
  /** The number of its sentence. */
  sentence: number;
  /** It speaks of what came before it: "It was created at Pixar." */
  refersBack: boolean;
}

/** A chunk, prepared for checking sentences against it. */
export interface Evidence {
  clauses: EvidenceClause[];
  /** Of the title and the headings. */
  context: ReadonlySet<string>;
  contextNumbers: NumberFact[];
  /** Of the text, the title and the headings. */
  terms: ReadonlySet<string>;
  /** All of that in lower case on one line. */
  haystack: string;
}

const REFERS_BACK = new Set('it its they their this these that those he she such'.split(' '));
/** Where a clause begins that says who does something: "..., and the server waits". */
const CLAUSE =
  /, (?:while|whereas)\s+|(?:;|, (?:and|but))\s+(?=(?:the|a|an|this|these|it|they|each|every|all|no)\s|[\p{Lu}`*])/u;

export const evidenceOf = oncePerChunk((chunk: EvidenceSource): Evidence => {
  const place = [chunk.title, ...chunk.headings].join('\n');
  const clauses = wordingOf(chunk).sentences.flatMap((text, sentence) =>
    text.split(CLAUSE).map((clause) => prepareClause(clause, sentence)),
  );
  const context = new Set(termsOf(place));
  const all = new Set(context);
  for (const { terms } of clauses) for (const term of terms) all.add(term);
  return {
    clauses,
    context,
    contextNumbers: numbersIn(place),
    terms: all,
    haystack: oneSpaced(`${withoutMarkup(place)}\n${chunk.text}\n${withoutMarkup(chunk.text)}`),
  };
});

function prepareClause(text: string, sentence: number): EvidenceClause {
  const words = wordsOf(text);
  const prose = withoutMarkup(text).replace(/`/g, ' ').toLowerCase();
  return {
    words,
    terms: new Set(termsOf(text)),
    numbers: numbersIn(prose),
    prose,
    sentence,
    refersBack: REFERS_BACK.has(words[0]?.lower ?? ''),
  };
}

/** Code, quotation marks and white space as they are compared. */
export function oneSpaced(text: string): string {
  return text
    .replace(/`/g, '')
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/\s+/g, ' ')
    .toLowerCase();
}
