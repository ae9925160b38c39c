import type { SentenceVerdict } from '../domain/checked-sentence.ts';
import { identifiersIn, quotesIn } from './facts/claim-facts.ts';
import { type Evidence, type EvidenceSource, evidenceOf, type Wording, wordingOf } from './facts/evidence.ts';
import { findPassage, type Passage } from './facts/find-passage.ts';
import {
  belongsToAnother,
  holdsIdentifier,
  holdsName,
  holdsNumbers,
  type PreparedClaim,
  prepareClaim,
} from './facts/held-facts.ts';
import { contradicts } from './facts/negation.ts';
import { rolesSwapped, subjectIsNear } from './facts/roles.ts';
import { termsOf, withTerm, writtenWordsOf } from './facts/words.ts';

/** A verdict of a higher rank is the better one. */
export const VERDICT_RANK: Record<SentenceVerdict, number> = {
  unsupported: 0,
  weak: 1,
  supported: 2,
  quoted: 3,
};

/** What kept a sentence from being supported. */
type Objection = 'quote' | 'number' | 'identifier' | 'name' | 'negation' | 'roles' | 'subject' | 'words';

interface ClaimCheck {
  verdict: SentenceVerdict;
  /** The share of the content words that the best passage holds, from 0 to 1. */
  support: number;
  objection: Objection | null;
}

/**
 * Shares of the content words, chosen on the labelled pairs of the tests: light paraphrases hold 0.77 or more,
 * sentences of which half is made up 0.45 to 0.6, unrelated ones less than 0.2. Words alone cannot tell a near
 * synonym from a near opposite ("survives", "is deleted"): the tests record how often that goes wrong.
 */
const SUPPORTED_FROM = 0.75;
const WEAK_FROM = 0.4;

/** Words that make a sentence stronger than its source, if that does not say them. */
const ABSOLUTE = new Set(['always', 'never', 'exclusively', 'guarantees', 'guaranteed']);

/**
 * Checks a sentence against a chunk, without a model. A sentence that stands in the chunk word for word is
 * quoted. Otherwise a quote, number, identifier or name that the chunk does not hold, or a negation that it
 * does not share, makes it unsupported. Else the share of its content words in the best one to three
 * neighbouring sentences decides; what is said of something else makes it weak at best.
 */
export function checkClaim(sentence: string, chunk: EvidenceSource): ClaimCheck {
  const wording = wordingOf(chunk);
  const written = writtenWordsOf(sentence);
  if (written.length === 0) return { verdict: 'weak', support: 0, objection: 'words' };
  if (wording.findWhole(written) !== null) return { verdict: 'quoted', support: 1, objection: null };

  const evidence = evidenceOf(chunk);
  const claim = prepareClaim(sentence, written.map(withTerm), evidence);
  const passage = findPassage(claim.content, evidence);
  const { support } = passage;
  const refutation = findRefutation(claim, passage, evidence, wording);
  if (refutation !== null) return { verdict: 'unsupported', support, objection: refutation };
  if (support < WEAK_FROM) return { verdict: 'unsupported', support, objection: 'words' };
  if (support < SUPPORTED_FROM) return { verdict: 'weak', support, objection: 'words' };
  const doubt = findDoubt(claim, passage, evidence);
  return { verdict: doubt === null ? 'supported' : 'weak', support, objection: doubt };
}

/** What the chunk does not hold at all, or denies. */
function findRefutation(
  claim: PreparedClaim,
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
function findDoubt(claim: PreparedClaim, passage: Passage, evidence: Evidence): Objection | null {
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
