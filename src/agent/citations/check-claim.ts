import type { Verdict } from '../../domain/citation.ts';
import { claimedNumbersIn, identifiersIn, type NumberFact, namesIn, quotesIn } from './claim-facts.ts';
import { termsOf } from './claim-terms.ts';
import { type Evidence, type EvidenceSource, evidenceOf } from './evidence.ts';
import { contentOf, findPassage, type Passage } from './find-passage.ts';
import { holdsIdentifier, holdsName } from './name-evidence.ts';
import { contradicts } from './negation.ts';
import { belongsToAnother, holdsNumber, isPartOfName } from './number-evidence.ts';
import { type Word, withTerm, writtenWordsOf } from './plain-words.ts';
import { rolesSwapped } from './roles.ts';
import { subjectIsNear } from './subject.ts';
import { type Wording, wordingOf } from './wording.ts';

export type ClaimVerdict = Exclude<Verdict, 'unknown_source'>;

/** What kept a sentence from being supported. */
export type Objection =
  | 'quote'
  | 'number'
  | 'identifier'
  | 'name'
  | 'negation'
  | 'roles'
  | 'subject'
  | 'words';

export interface ClaimCheck {
  verdict: ClaimVerdict;
  /** The share of the content words that the best passage holds, from 0 to 1. */
  support: number;
  objection: Objection | null;
}

/**
 * Shares of the content words, chosen on the labelled pairs of the tests: light paraphrases hold 0.77 or more,
 * sentences of which half is made up 0.45 to 0.6, unrelated ones less than 0.2. Words alone cannot tell a near
 * synonym from a near opposite ("survives", "is deleted"): the tests record how often that goes wrong.
 */
export const SUPPORTED_FROM = 0.75;
export const WEAK_FROM = 0.4;

/** Words that make a sentence stronger than its source, if that does not say them. */
const ABSOLUTE = new Set(['always', 'never', 'exclusively', 'guarantees', 'guaranteed']);

interface Claim {
  sentence: string;
  words: Word[];
  /** The terms of each content word. */
  content: (readonly string[])[];
  numbers: NumberFact[];
  names: string[];
}

/**
 * Checks a sentence against a chunk, without a model. A sentence that stands in the chunk word for word is
 * supported. Otherwise a quote, number, identifier or name that the chunk does not hold, or a negation that it
 * does not share, makes it unsupported. Else the share of its content words in the best one to three
 * neighbouring sentences decides; what is said of something else makes it weak at best.
 */
export function checkClaim(sentence: string, chunk: EvidenceSource): ClaimCheck {
  const wording = wordingOf(chunk);
  const written = writtenWordsOf(sentence);
  if (written.length === 0) return { verdict: 'weak', support: 0, objection: 'words' };
  if (wording.holdsWhole(written)) return { verdict: 'supported', support: 1, objection: null };

  const evidence = evidenceOf(chunk);
  const claim = claimOf(sentence, written.map(withTerm), evidence);
  const passage = findPassage(claim.content, evidence);
  const { support } = passage;
  const refutation = findRefutation(claim, passage, evidence, wording);
  if (refutation !== null) return { verdict: 'unsupported', support, objection: refutation };
  if (support < WEAK_FROM) return { verdict: 'unsupported', support, objection: 'words' };
  if (support < SUPPORTED_FROM) return { verdict: 'weak', support, objection: 'words' };
  const doubt = findDoubt(claim, passage, evidence);
  return { verdict: doubt === null ? 'supported' : 'weak', support, objection: doubt };
}

function claimOf(sentence: string, words: Word[], evidence: Evidence): Claim {
  return {
    sentence,
    words,
    content: contentOf(words, evidence),
    numbers: claimedNumbersIn(sentence),
    names: namesIn(sentence),
  };
}

/** What the chunk does not hold at all, or denies. */
function findRefutation(
  claim: Claim,
  passage: Passage,
  evidence: Evidence,
  wording: Wording,
): Objection | null {
  const { sentence, names } = claim;
  if (!quotesIn(sentence).every((quote) => wording.holdsQuote(writtenWordsOf(quote)))) return 'quote';
  if (!identifiersIn(sentence).every((name) => holdsIdentifier(evidence, name))) return 'identifier';
  if (!holdsNumbers(claim, evidence.clauses, evidence)) return 'number';
  if (!names.every((name) => holdsName(evidence, name))) return 'name';
  return contradicts(claim.words, claim.content, passage) ? 'negation' : null;
}

/** What the chunk holds, but not in the passage, or not of this subject. */
function findDoubt(claim: Claim, passage: Passage, evidence: Evidence): Objection | null {
  const { sentence, words, content, numbers, names } = claim;
  if (passage.best === null || content.length < 2) return 'words';
  if (words.some(({ lower, term }) => ABSOLUTE.has(lower) && !passage.terms.has(term ?? lower)))
    return 'words';
  if (!holdsNumbers(claim, passage.clauses, evidence)) return 'number';
  if (numbers.some((number) => belongsToAnother(sentence, number, passage.clauses))) return 'number';
  const isNear = (term: string) => passage.terms.has(term) || evidence.context.has(term);
  if (!names.every((name) => termsOf(name).some(isNear))) return 'name';
  if (!subjectIsNear(words, passage, evidence)) return 'subject';
  return rolesSwapped(words, passage.best.words) ? 'roles' : null;
}

function holdsNumbers(
  { sentence, numbers: claimed }: Claim,
  clauses: Evidence['clauses'],
  evidence: Evidence,
): boolean {
  const numbers = [...clauses.flatMap((one) => one.numbers), ...evidence.contextNumbers];
  return claimed.every(
    (number) => holdsNumber(numbers, number) || isPartOfName(sentence, number, evidence.haystack),
  );
}
