import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import { findInnerCode, type TextRange } from '../../text/markdown-blocks.ts';
import { memoizeBy } from '../../text/memoize.ts';
import { splitSentencesAndCode } from '../../text/split-sentences.ts';
import { findNumbers, isNumberWord, isUnitWord } from './claim-facts.ts';
import {
  isOptionalTerm,
  splitTermWords,
  splitWords,
  stripMarkdown,
  type TermWord,
  toBaseTerms,
  toBaseTermsOfWord,
  type WrittenWord,
} from './split-words.ts';

/** A passage that claims and answers are checked against. */
export type JudgedPassage = Pick<RetrievedChunk, 'text' | 'title' | 'headings'>;

const CACHE = { size: 64 };
const keyOf = ({ title, headings, text }: JudgedPassage) => [title, ...headings, text].join('\0');

/** The exact words of a chunk. */
export const prepareWording = memoizeBy(CACHE, keyOf, (chunk: JudgedPassage) => {
  const ranges = splitSentencesAndCode(chunk.text);
  /** The shortest units that can be quoted: code has several, one for each sentence in it. */
  const units: { range: TextRange; words: string }[] = [];
  const text: string[] = [];
  for (const range of ranges) {
    // Code may be quoted without its fences.
    const { start, end } = range.isCode ? findInnerCode(chunk.text, range) : range;
    let unit: string[] = [];
    for (const word of splitWords(chunk.text.slice(start, end))) {
      text.push(word.text);
      unit.push(word.lower);
      if (!word.endsSentence) continue;
      units.push({ range, words: unit.join(' ') });
      unit = [];
    }
    if (unit.length > 0) units.push({ range, words: unit.join(' ') });
  }
  const quotable = ` ${[...text, ...titleWords(chunk)].join(' ')} `;

  return {
    /** Each code block counts as one sentence. */
    sentences: ranges.map(({ start, end }) => chunk.text.slice(start, end)),
    /** The range of one or more whole sentences with exactly these words, in any case. */
    findWhole(sought: readonly WrittenWord[]): TextRange | null {
      const words = sought.map(({ lower }) => lower).join(' ');
      if (words === '') return null;
      for (let first = 0; first < units.length; first += 1) {
        for (let at = 0, last = first; words.startsWith(units[last]?.words ?? ' ', at); last += 1) {
          at += (units[last]?.words.length ?? 0) + 1;
          if (at > words.length)
            return { start: units[first]?.range.start ?? 0, end: units[last]?.range.end ?? 0 };
          if (words.charAt(at - 1) !== ' ') break;
        }
      }
      return null;
    },
    /** Whether words occur in a row, in the same case except for the first letter. */
    containsQuote(sought: readonly WrittenWord[]): boolean {
      const [first = '', ...rest] = sought.map((word) => word.text);
      const [initial, others] = [first.charAt(0), first.slice(1)];
      return [initial, initial.toLowerCase(), initial.toUpperCase()].some((letter) =>
        quotable.includes(` ${[letter + others, ...rest].join(' ')} `),
      );
    },
  };
});

function titleWords({ title, headings }: JudgedPassage): string[] {
  return splitWords([title, ...headings].join('\n')).map(({ text }) => text);
}

const REFERS_BACK = new Set('it its they their this these that those he she such'.split(' '));
/** The boundary before a clause with its own subject: "..., and the server waits". */
const CLAUSE =
  /, (?:while|whereas)\s+|(?:;|, (?:and|but))\s+(?=(?:the|a|an|this|these|it|they|each|every|all|no)\s|[\p{Lu}`*])/u;

export type ChunkEvidence = ReturnType<typeof prepareEvidence>;

/** Prepares a chunk for checking claims against it. */
export const prepareEvidence = memoizeBy(CACHE, keyOf, (chunk: JudgedPassage) => {
  const path = [chunk.title, ...chunk.headings].join('\n');
  const clauses = prepareWording(chunk).sentences.flatMap((text, sentence) =>
    text.split(CLAUSE).map((clause) => prepareClause(clause, sentence)),
  );
  const context = new Set(toBaseTerms(path));
  const all = new Set(context);
  for (const { terms } of clauses) for (const term of terms) all.add(term);
  return {
    clauses,
    /** The terms of the title and headings. */
    context,
    contextNumbers: findNumbers(path),
    /** The terms of text, title and headings. */
    terms: all,
    /** Text, title and headings, normalized for substring search. */
    haystack: normalizeForSearch(`${stripMarkdown(path)}\n${chunk.text}\n${stripMarkdown(chunk.text)}`),
  };
});

export type EvidenceClause = ReturnType<typeof prepareClause>;

/** Prepares a sentence of a chunk, or a clause with its own subject. */
function prepareClause(text: string, sentence: number) {
  const words = splitTermWords(text);
  return {
    words,
    terms: new Set(toBaseTerms(text)),
    numbers: findNumbers(stripMarkdown(text).replace(/`/g, ' ').toLowerCase()),
    /** The index of its sentence. */
    sentence,
    /** Its subject is a pronoun: "It was created at Pixar." */
    refersBack: REFERS_BACK.has(words[0]?.lower ?? ''),
  };
}

/** Lower case, without backticks, with plain quotation marks and single spaces. */
export function normalizeForSearch(text: string): string {
  return text
    .replace(/`/g, '')
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

export type PassageMatch = ReturnType<typeof findBestPassage>;

/** A word in a neighbouring sentence counts less: it may be about something else. */
const NEIGHBOUR_WEIGHT = 0.6;
/** Prefers, among clauses that share about as much, the one that mentions the first word of the claim. */
const SUBJECT_BONUS = 0.05;
/** A word with more terms is text in a script without spaces: each term counts as a word. */
const MAX_COMPOUND_TERMS = 4;

/**
 * The terms of each distinct content word, or of every word if all are stop words. Numbers and their units are left
 * out, since they are checked separately.
 */
export function toContentTerms(words: readonly TermWord[], evidence: ChunkEvidence): (readonly string[])[] {
  const content = words.filter(({ term, lower }, index) => {
    if (
      term === null ||
      isNumberWord(lower) ||
      (isUnitWord(lower) && isNumberWord(words[index - 1]?.lower ?? ''))
    )
      return false;
    return !isOptionalTerm(term) || evidence.terms.has(term);
  });
  const counted = content.length > 0 ? content : words;
  return [...new Set(counted.map(({ text }) => text))].flatMap((text) => {
    const terms = toBaseTermsOfWord(text);
    return terms.length > MAX_COMPOUND_TERMS ? terms.map((term) => [term]) : [terms];
  });
}

/** Finds the clause that shares most with a claim, read together with its neighbours and the headings. */
export function findBestPassage(content: readonly (readonly string[])[], evidence: ChunkEvidence) {
  /** The share of the claim's content words in it, from 0 to 1. */
  let bestShare = 0;
  let rank = -1;
  let at = -1;
  const subject = content[0] ?? [];
  evidence.clauses.forEach((clause, index) => {
    const found = content.reduce((sum, terms) => sum + weightOf(terms, evidence, index), 0);
    const share = content.length === 0 ? 0 : found / content.length;
    const ranked = share + (subject.some((term) => clause.terms.has(term)) ? SUBJECT_BONUS : 0);
    if (ranked <= rank) return;
    rank = ranked;
    bestShare = share;
    at = index;
  });
  const best = evidence.clauses[at] ?? null;
  // The clauses of its sentence and of the sentences next to it.
  const clauses = evidence.clauses.filter(
    ({ sentence }) => best !== null && Math.abs(sentence - best.sentence) <= 1,
  );
  const terms = new Set(clauses.flatMap((clause) => [...clause.terms]));
  return { share: bestShare, best, clauses, terms };
}

/** How much of a word occurs in or next to a clause, from 0 to 1. A compound such as `KEEP_LAST` is one word. */
function weightOf(terms: readonly string[], evidence: ChunkEvidence, index: number): number {
  if (terms.length === 0) return 0;
  const before = evidence.clauses[index - 1];
  const clause = evidence.clauses[index];
  const after = evidence.clauses[index + 1];
  let weight = 0;
  for (const term of terms) {
    if (clause?.terms.has(term) || evidence.context.has(term)) weight += 1;
    else if (before?.terms.has(term)) weight += clause?.refersBack ? 1 : NEIGHBOUR_WEIGHT;
    else if (after?.terms.has(term)) weight += after.refersBack ? 1 : NEIGHBOUR_WEIGHT;
  }
  return weight / terms.length;
}
