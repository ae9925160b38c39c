import type { CheckedBy, CheckedSentence, SentenceVerdict } from '../domain/checked-sentence.ts';
import { type Citation, createUnknownCitation, toCitableSource, toCitation } from '../domain/citation.ts';
import type {
  CheckContext,
  CitationChecker,
  CitedSentence,
  SentenceCheck,
} from '../ports/citation-checker.ts';
import { oneLine } from '../text/visible-text.ts';
import { cleanAnswer } from './clean-answer.ts';
import type { CitationMarker } from './find-markers.ts';
import type { SourceRegister } from './source-register.ts';
import type { AnswerClaim, ClaimPart } from './split-claims.ts';

export interface CheckedAnswer {
  /** Every marker in it is `[n]`, the ref of a source in the register. */
  answer: string;
  /** One for each cited chunk; then one for each unknown source. */
  citations: Citation[];
  sentences: CheckedSentence[];
  checkedBy: CheckedBy;
}

/** A sentence, or the parts of it that cite their own sources. */
interface PlannedSentence {
  claim: AnswerClaim;
  cited: CitedSentence[];
}

const LONGEST_MARKER = 200;

/**
 * Cleans an answer and checks each cited sentence against its sources. Markers of sources that were not retrieved are
 * removed. Checking the returned answer again returns the same answer. Throws what the checker throws.
 */
export async function checkAnswer(
  answer: string,
  register: SourceRegister,
  checker: CitationChecker,
  context: CheckContext,
): Promise<CheckedAnswer> {
  const { text, unknown, markers, claims } = cleanAnswer(answer, register);
  const plan = claims.map((claim): PlannedSentence => {
    const whole = toCitedSentence(claim, register);
    const parts = claim.parts.flatMap((part) => toCitedSentence(part, register) ?? []);
    return { claim, cited: parts.length > 1 ? parts : whole === null ? [] : [whole] };
  });
  const allCited = plan.flatMap(({ cited }) => cited);
  const { checks, checkedBy } = await checker(allCited, context);
  const remaining = checks.values();
  const sentences = plan.map(({ claim, cited }) =>
    toCheckedSentence(claim, remaining.take(cited.length).toArray()),
  );
  const unknownCitations = Array.from(unknown, (name) =>
    createUnknownCitation(oneLine(name, LONGEST_MARKER) || '?'),
  );
  return {
    answer: text,
    citations: [...toCitations(refsOf(markers), allCited, checks, register), ...unknownCitations],
    sentences,
    checkedBy,
  };
}

/** Null for a text that cites no known source. */
function toCitedSentence({ text, markers }: ClaimPart, register: SourceRegister): CitedSentence | null {
  const refs = refsOf(markers).filter((ref) => register.chunkOf(ref) !== undefined);
  const chunks = refs.flatMap((ref) => register.chunkOf(ref) ?? []);
  return refs.length === 0 ? null : { text, refs, chunks };
}

/** A sentence in parts is flagged if one of them is, and quoted if all are. */
function toCheckedSentence(claim: AnswerClaim, checks: readonly SentenceCheck[]): CheckedSentence {
  const worst = checks.toSorted((a, b) => VERDICT_RANK[a.verdict] - VERDICT_RANK[b.verdict])[0];
  return {
    start: claim.start,
    end: claim.end,
    text: claim.text,
    refs: refsOf(claim.markers),
    verdict: worst?.verdict ?? null,
    reason: worst?.reason ?? null,
    evidence: worst?.evidence ?? null,
  };
}

/** A citation is as good as the best text with it. A marker without a sentence supports nothing. */
function toCitations(
  refs: readonly string[],
  cited: readonly CitedSentence[],
  checks: readonly SentenceCheck[],
  register: SourceRegister,
): Citation[] {
  return refs.flatMap((ref) => {
    const chunk = register.chunkOf(ref);
    if (chunk === undefined) return [];
    const verdicts = checks.flatMap(({ verdict, evidence }, index): SentenceVerdict[] => {
      if (!cited[index]?.refs.includes(ref)) return [];
      return [verdict === 'quoted' && evidence?.chunkId !== chunk.chunkId ? 'supported' : verdict];
    });
    const best = verdicts.toSorted((a, b) => VERDICT_RANK[b] - VERDICT_RANK[a])[0] ?? 'unsupported';
    return [toCitation(toCitableSource(chunk, ref), best)];
  });
}

const VERDICT_RANK: Record<SentenceVerdict, number> = { unsupported: 0, supported: 1, quoted: 2 };

function refsOf(markers: readonly CitationMarker[]): string[] {
  return [...new Set(markers.flatMap(({ references }) => references.map(({ name }) => name)))];
}
