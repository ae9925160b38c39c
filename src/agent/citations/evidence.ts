import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { type NumberFact, numbersIn } from './claim-facts.ts';
import { termsOf } from './claim-terms.ts';
import { findBlocks } from './markdown-blocks.ts';
import { type Word, withoutMarkup, wordsOf } from './plain-words.ts';
import { splitSentences } from './split-sentences.ts';

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
  /** Whether words stand in a row in the text, in any case. */
  holdsWhole(words: readonly Word[]): boolean;
  /** Whether words stand in a row, in the same case but for the first letter. */
  holdsQuote(words: readonly Word[]): boolean;
}

const REFERS_BACK = new Set('it its they their this these that those he she such'.split(' '));
/** Where a clause begins that says who does something: "..., and the server waits". */
const CLAUSE =
  /, (?:while|whereas)\s+|(?:;|, (?:and|but))\s+(?=(?:the|a|an|this|these|it|they|each|every|all|no)\s|[\p{Lu}`*])/u;
const prepared = new WeakMap<EvidenceSource, Evidence>();

/** Prepared once for each chunk object, which must not change afterwards. */
export function evidenceOf(chunk: EvidenceSource): Evidence {
  const known = prepared.get(chunk);
  if (known !== undefined) return known;
  const evidence = prepareEvidence(chunk);
  prepared.set(chunk, evidence);
  return evidence;
}

function prepareEvidence(chunk: EvidenceSource): Evidence {
  const place = [chunk.title, ...chunk.headings].join('\n');
  const code = findBlocks(chunk.text).filter(({ kind }) => kind === 'code');
  const ranges = [...splitSentences(chunk.text), ...code].sort((a, b) => a.start - b.start);
  const sentences = ranges.map(({ start, end }) => chunk.text.slice(start, end));
  const clauses = sentences.flatMap((text, sentence) =>
    text.split(CLAUSE).map((clause) => prepareClause(clause, sentence)),
  );
  const context = new Set(termsOf(place));
  const all = new Set(context);
  for (const { terms } of clauses) for (const term of terms) all.add(term);
  const words = sentences.flatMap((text) => {
    const ofSentence = wordsOf(text);
    return ofSentence.map((word, index) => ({
      ...word,
      starts: index === 0 || ofSentence[index - 1]?.endsSentence === true,
      ends: index === ofSentence.length - 1 || word.endsSentence,
    }));
  });
  const written = createWordSearch([...words, ...wordsOf(place)].map(({ text }) => text));
  const lower = createWordSearch(words.map((word) => word.lower));
  return {
    clauses,
    context,
    contextNumbers: numbersIn(place),
    terms: all,
    haystack: oneSpaced(`${withoutMarkup(place)}\n${chunk.text}\n${withoutMarkup(chunk.text)}`),
    holdsWhole: (sought) =>
      lower.find(
        sought.map((word) => word.lower),
        (first, last) => words[first]?.starts === true && words[last]?.ends === true,
      ),
    holdsQuote: (sought) => {
      const [first = '', ...rest] = sought.map(({ text }) => text);
      const cases = new Set([first, first.charAt(0).toLowerCase() + first.slice(1), capitalised(first)]);
      return [...cases].some((word) => written.find([word, ...rest], () => true));
    },
  };
}

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

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Words in a row, found by the engine's own search in a text of all words. */
function createWordSearch(words: readonly string[]) {
  const joined = ` ${words.join(' ')} `;
  const indexAt = new Map<number, number>();
  let at = 0;
  words.forEach((word, index) => {
    indexAt.set(at, index);
    at += word.length + 1;
  });
  return {
    find(sought: readonly string[], accepts: (first: number, last: number) => boolean): boolean {
      if (sought.length === 0) return false;
      const text = ` ${sought.join(' ')} `;
      for (let found = joined.indexOf(text); found >= 0; found = joined.indexOf(text, found + 1)) {
        const first = indexAt.get(found);
        if (first !== undefined && accepts(first, first + sought.length - 1)) return true;
      }
      return false;
    },
  };
}
