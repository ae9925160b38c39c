import { type Citation, toCitable, unknownCitation, withVerdict } from '../../domain/citation.ts';
import { oneLine } from '../../domain/visible-text.ts';
import { type ClaimVerdict, checkClaim } from './check-claim.ts';
import { cleanAnswer } from './clean-answer.ts';
import type { Marker } from './find-markers.ts';
import type { SourceRegister } from './source-register.ts';
import type { Claim, ClaimPart } from './split-claims.ts';

export interface CheckedClaim {
  /** A sentence of the answer, without its markers. */
  text: string;
  /** The best verdict among its sources; null when the sentence cites nothing. */
  verdict: ClaimVerdict | null;
  refs: string[];
}

export interface CheckedAnswer {
  /** Every marker in it is `[n]`, the ref of a source in the register. */
  answer: string;
  /** One for every cited chunk, with the best verdict among its sentences; then one for every unknown source. */
  citations: Citation[];
  claims: CheckedClaim[];
}

const LONGEST_MARKER = 200;
const RANK: Record<ClaimVerdict, number> = { unsupported: 0, weak: 1, supported: 2 };

/**
 * Cleans an answer and checks each cited sentence against its sources. Never throws. Checking what it returns
 * again gives the same answer. A marker of something that was not retrieved never survives.
 */
export function checkAnswer(answer: string, register: SourceRegister): CheckedAnswer {
  const { text, unknown, markers, ...cleaned } = cleanAnswer(answer, register);
  const verdicts = new Map<string, ClaimVerdict>();
  const claims = cleaned.claims.map((claim) => checkSentence(claim, register, verdicts));
  // A marker without a sentence bears out nothing.
  for (const ref of refsOf(markers)) if (!verdicts.has(ref)) verdicts.set(ref, 'unsupported');
  const cited = Array.from(verdicts, ([ref, verdict]): Citation[] => {
    const chunk = register.chunkOf(ref);
    return chunk === undefined ? [] : [withVerdict(toCitable(chunk, ref), verdict)];
  }).flat();
  return { answer: text, citations: [...cited, ...Array.from(unknown, unknownCitationOf)], claims };
}

/** A sentence that cites as it goes is borne out if each of its parts is. Adds to the verdicts of its refs. */
function checkSentence(
  claim: Claim,
  register: SourceRegister,
  verdicts: Map<string, ClaimVerdict>,
): CheckedClaim {
  const check = ({ text, markers }: ClaimPart): ClaimVerdict | null => {
    let best: ClaimVerdict | null = null;
    for (const ref of refsOf(markers)) {
      const chunk = register.chunkOf(ref);
      if (chunk === undefined) continue;
      const { verdict } = checkClaim(text, chunk);
      best = better(best, verdict);
      verdicts.set(ref, better(verdicts.get(ref) ?? null, verdict));
    }
    return best;
  };
  const whole = check(claim);
  const parts = claim.parts.map(check).filter((verdict) => verdict !== null);
  const worst = parts.toSorted((a, b) => RANK[a] - RANK[b])[0];
  const verdict = worst === undefined ? whole : better(whole, worst);
  return { text: claim.text, verdict, refs: refsOf(claim.markers) };
}

function refsOf(markers: readonly Marker[]): string[] {
  return [...new Set(markers.flatMap(({ references }) => references.map(({ name }) => name)))];
}

/** The share of the sentences that are supported by what they cite; 0 without any. */
export function sentencesSupported(claims: readonly CheckedClaim[]): number {
  const supported = claims.filter(({ verdict }) => verdict === 'supported').length;
  return claims.length === 0 ? 0 : supported / claims.length;
}

function better(a: ClaimVerdict | null, b: ClaimVerdict): ClaimVerdict {
  return a !== null && RANK[a] >= RANK[b] ? a : b;
}

function unknownCitationOf(name: string): Citation {
  return unknownCitation(oneLine(name, LONGEST_MARKER) || '?');
}
