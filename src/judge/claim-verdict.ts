import type { SentenceVerdict } from '../domain/checked-sentence.ts';
import { type JudgedPassage, prepareWording } from './facts/evidence.ts';
import { splitWords } from './facts/split-words.ts';
import { type ClaimFacts, verifyFacts } from './facts/verify-facts.ts';

/** A verdict of a higher rank is the better one. */
export const VERDICT_RANK: Record<SentenceVerdict, number> = {
  unsupported: 0,
  weak: 1,
  supported: 2,
  quoted: 3,
};

/** A fact of a claim that its source does not contain, or that it denies. */
export type ClaimObjection = 'quote' | 'identifier' | 'number' | 'name' | 'negation';

/** Chances from which a claim is supported or weak. decisions/0012 states the error rates. */
export const VERDICT_THRESHOLDS = { supported: 0.57, weak: 0.3 };

/** The verdict on a claim with a calibrated chance. With any objection it is weak at best. */
export function toVerdict(
  chance: number,
  { isVerbatim }: Pick<ClaimFacts, 'isVerbatim'>,
  objections: readonly ClaimObjection[],
  thresholds = VERDICT_THRESHOLDS,
): SentenceVerdict {
  if (isVerbatim) return 'quoted';
  if (chance < thresholds.weak) return 'unsupported';
  return chance >= thresholds.supported && objections.length === 0 ? 'supported' : 'weak';
}

export function findObjections({ missing, contradicts }: ClaimFacts): ClaimObjection[] {
  const found: [ClaimObjection, boolean][] = [
    ['quote', missing.quotes.length > 0],
    ['identifier', missing.identifiers.length > 0],
    ['number', missing.numbers.length > 0],
    ['name', missing.names.length > 0],
    ['negation', contradicts],
  ];
  return found.flatMap(([objection, applies]) => (applies ? [objection] : []));
}

interface WordCheck {
  verdict: SentenceVerdict;
  /** The share of content words in the best passage, from 0 to 1. */
  support: number;
  objections: ClaimObjection[];
}

/**
 * Shares of content words, chosen on the labelled pairs of the tests: light paraphrases have 0.77 or more, half invented
 * sentences 0.45 to 0.6, unrelated ones less than 0.2.
 */
const SUPPORTED_SHARE = 0.75;
const WEAK_SHARE = 0.4;

/**
 * Checks a claim against a chunk by its words, without a model. Any objection makes it unsupported; otherwise the share
 * of its content words in the best passage decides.
 */
export function checkClaimByWords(claim: string, chunk: JudgedPassage): WordCheck {
  const words = splitWords(claim);
  if (words.length === 0) return { verdict: 'weak', support: 0, objections: [] };
  if (prepareWording(chunk).findWhole(words) !== null)
    return { verdict: 'quoted', support: 1, objections: [] };
  const facts = verifyFacts(claim, chunk);
  const objections = findObjections(facts);
  const { share: support, contentCount, numbersFar, isSubjectFar } = facts;
  if (objections.length > 0 || support < WEAK_SHARE) return { verdict: 'unsupported', support, objections };
  const isDoubtful = contentCount < 2 || numbersFar > 0 || isSubjectFar;
  const verdict = support < SUPPORTED_SHARE || isDoubtful ? 'weak' : 'supported';
  return { verdict, support, objections };
}
