import type { SentenceVerdict } from '../domain/checked-sentence.ts';
import type { ClaimFacts } from './facts/held-facts.ts';

/** What likeness never outvotes. */
export type HardFact = 'quote' | 'identifier' | 'number' | 'name' | 'negation' | 'roles';

/** Chosen for error rates that decisions/0012 states: how often `supported` is wrong, and `unsupported` a false alarm. */
export const BARS = { supported: 0.57, weak: 0.3 };

export function supportVerdict(
  chance: number,
  { whole }: Pick<ClaimFacts, 'whole'>,
  objections: readonly HardFact[],
  bars = BARS,
): SentenceVerdict {
  if (whole) return 'quoted';
  if (chance < bars.weak) return 'unsupported';
  return chance >= bars.supported && objections.length === 0 ? 'supported' : 'weak';
}

/** The facts of a sentence that its source does not hold or denies. */
export function objectionsOf({ missing, contradicts, rolesSwapped }: ClaimFacts): HardFact[] {
  const found: [HardFact, boolean][] = [
    ['quote', missing.quotes.length > 0],
    ['identifier', missing.identifiers.length > 0],
    ['number', missing.numbers.length > 0],
    ['name', missing.names.length > 0],
    ['negation', contradicts],
    ['roles', rolesSwapped],
  ];
  return found.flatMap(([fact, is]) => (is ? [fact] : []));
}
