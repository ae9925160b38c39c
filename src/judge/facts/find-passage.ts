import { isNumber, isUnit } from './claim-facts.ts';
import type { Evidence, EvidenceClause } from './evidence.ts';
import type { Word } from './words.ts';
import { isOptional, termsOfWord } from './words.ts';

export interface Passage {
  /** The share of the content words that it holds, from 0 to 1. */
  support: number;
  /** The clause that shares most; null in an empty chunk. */
  best: EvidenceClause | null;
  /** The best one with those around it. */
  clauses: EvidenceClause[];
  terms: ReadonlySet<string>;
}

/** A word from the sentences around the best one counts less: it may be said of something else. */
const NEIGHBOUR_WEIGHT = 0.6;
/** Of sentences that share about as much, the one that names what the claim is about is the best. */
const SUBJECT_BONUS = 0.05;
/** A word with more terms is a run of a script without spaces: each term counts as a word. */
const MOST_PARTS = 4;

/**
 * The terms of each content word, once; of every word if there are stop words only. Numbers and their units are
 * left out: they are checked on their own.
 */
export function contentOf(words: readonly Word[], evidence: Evidence): (readonly string[])[] {
  const content = words.filter(({ term, lower }, index) => {
    if (term === null || isNumber(lower) || (isUnit(lower) && isNumber(words[index - 1]?.lower ?? '')))
      return false;
    return !isOptional(term) || evidence.terms.has(term);
  });
  const counted = content.length > 0 ? content : words;
  return [...new Set(counted.map(({ text }) => text))].flatMap((text) => {
    const terms = termsOfWord(text);
    return terms.length > MOST_PARTS ? terms.map((term) => [term]) : [terms];
  });
}

/** The clause that shares most with a claim, read with the sentences around it and the headings. */
export function findPassage(content: readonly (readonly string[])[], evidence: Evidence): Passage {
  let support = 0;
  let rank = -1;
  let at = -1;
  const subject = content[0] ?? [];
  evidence.clauses.forEach((clause, index) => {
    const found = content.reduce((sum, terms) => sum + weightOf(terms, evidence, index), 0);
    const share = content.length === 0 ? 0 : found / content.length;
    const ranked = share + (subject.some((term) => clause.terms.has(term)) ? SUBJECT_BONUS : 0);
    if (ranked <= rank) return;
    rank = ranked;
    support = share;
    at = index;
  });
  const clauses = at < 0 ? [] : neighboursOf(evidence, at);
  const terms = new Set(clauses.flatMap((clause) => [...clause.terms]));
  return { support, best: evidence.clauses[at] ?? null, clauses, terms };
}

/** The clauses of a sentence, of the one before it and of the one after it. */
function neighboursOf({ clauses }: Evidence, index: number): EvidenceClause[] {
  const sentence = clauses[index]?.sentence ?? 0;
  let start = index;
  let end = index + 1;
  while (start > 0 && sentence - (clauses[start - 1]?.sentence ?? 0) <= 1) start -= 1;
  while (end < clauses.length && (clauses[end]?.sentence ?? 0) - sentence <= 1) end += 1;
  return clauses.slice(start, end);
}

/** How much of a word is said around a clause. A compound such as `KEEP_LAST` is one word. */
function weightOf(terms: readonly string[], evidence: Evidence, index: number): number {
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
