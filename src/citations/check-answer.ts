import type { CheckedBy, CheckedSentence, SentenceVerdict } from '../domain/checked-sentence.ts';
import { type Citation, createUnknownCitation, toCitableSource, toCitation } from '../domain/citation.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { ClaimSupport } from '../judge/answer-judge.ts';
import { checkClaimByWords, VERDICT_RANK } from '../judge/claim-verdict.ts';
import { oneLine } from '../text/visible-text.ts';
import { type CleanedAnswer, cleanAnswer } from './clean-answer.ts';
import type { CitationMarker } from './find-markers.ts';
import type { SourceRegister } from './source-register.ts';
import { type AnswerClaim, type ClaimPart, toAnswerRange } from './split-claims.ts';

export interface CheckedAnswer {
  /** Every marker in it is `[n]`, the ref of a source in the register. */
  answer: string;
  /** One for each cited chunk, with the best verdict among its sentences; then one for each unknown source. */
  citations: Citation[];
  sentences: CheckedSentence[];
  checkedBy: CheckedBy;
}

/** A sentence, or a part of one, and the chunks that together should support it. */
export interface SupportLookup {
  /** Equal for equal texts and chunks. */
  key: string;
  text: string;
  chunks: readonly RetrievedChunk[];
}

/** Looks up whether chunks support a text. */
export type LookUpSupport = (
  lookup: SupportLookup,
) => Promise<Pick<ClaimSupport, 'verdict' | 'chance' | 'evidence' | 'unsupportedSpans'>>;

/** The result of a lookup. Spans are offsets in the looked-up text. */
interface Finding extends Pick<CheckedSentence, 'probability' | 'evidence' | 'unsupportedSpans'> {
  verdict: SentenceVerdict;
}

/** The lookups that decide about a sentence or a part of one. */
interface PlannedCheck {
  bySource: { ref: string; lookup: SupportLookup }[];
  /** All sources together; null if the text cites no known source. */
  combined: SupportLookup | null;
}

interface PlannedSentence {
  claim: AnswerClaim;
  whole: PlannedCheck;
  parts: PlannedCheck[];
}

const LONGEST_MARKER = 200;
/** Answers with more cited characters are checked by words, which takes almost no time. */
const MOST_JUDGED_CHARACTERS = 16_000;

/**
 * Cleans an answer and checks each cited sentence against its sources by words. Never throws. Checking the returned
 * answer again returns the same answer. Markers of sources that were not retrieved are removed.
 */
export function checkAnswer(answer: string, register: SourceRegister): CheckedAnswer {
  const cleaned = cleanAnswer(answer, register);
  return checkByWords(cleaned, planChecks(cleaned.claims, register), register);
}

/** Like `checkAnswer`, with a judge. Throws what the judge throws. */
export async function judgeAnswer(
  answer: string,
  register: SourceRegister,
  lookUp: LookUpSupport,
): Promise<CheckedAnswer> {
  const cleaned = cleanAnswer(answer, register);
  const plan = planChecks(cleaned.claims, register);
  const lookups = distinctLookups(plan);
  const characters = lookups.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > MOST_JUDGED_CHARACTERS) return checkByWords(cleaned, plan, register);
  const findings = new Map<string, Finding>();
  for (const lookup of lookups) findings.set(lookup.key, toFinding(await lookUp(lookup), lookup));
  return toCheckedAnswer(cleaned, plan, findings, register, 'judge');
}

/** The lookups of an unfinished answer, without its last sentence, which may change. */
export function planUnfinishedAnswer(written: string, register: SourceRegister): SupportLookup[] {
  return distinctLookups(planChecks(cleanAnswer(written, register).claims.slice(0, -1), register));
}

function planChecks(claims: readonly AnswerClaim[], register: SourceRegister): PlannedSentence[] {
  const plan = ({ text, markers }: ClaimPart): PlannedCheck => {
    const bySource = refsOf(markers).flatMap((ref) => {
      const chunk = register.chunkOf(ref);
      return chunk === undefined ? [] : [{ ref, lookup: toLookup(text, [chunk]) }];
    });
    const [first, second] = bySource;
    const chunks = bySource.flatMap(({ lookup }) => lookup.chunks);
    const combined = second === undefined ? (first?.lookup ?? null) : toLookup(text, chunks);
    return { bySource, combined };
  };
  return claims.map((claim) => ({ claim, whole: plan(claim), parts: claim.parts.map(plan) }));
}

function toLookup(text: string, chunks: readonly RetrievedChunk[]): SupportLookup {
  return { key: JSON.stringify([text, chunks.map(({ chunkId }) => chunkId)]), text, chunks };
}

function distinctLookups(plan: readonly PlannedSentence[]): SupportLookup[] {
  const lookups = plan
    .flatMap(({ whole, parts }) => [whole, ...parts])
    .flatMap(({ bySource, combined }) => [...bySource.map(({ lookup }) => lookup), combined ?? []].flat());
  return [...new Map(lookups.map((lookup) => [lookup.key, lookup])).values()];
}

function checkByWords(
  cleaned: CleanedAnswer,
  plan: readonly PlannedSentence[],
  register: SourceRegister,
): CheckedAnswer {
  const findings = distinctLookups(plan).map(({ key, text, chunks }): [string, Finding] => {
    const verdicts = chunks.map((chunk) => checkClaimByWords(text, chunk).verdict);
    return [key, { ...NO_FINDING, verdict: verdicts.reduce(betterVerdict, 'unsupported') }];
  });
  return toCheckedAnswer(cleaned, plan, new Map(findings), register, 'words');
}

const NO_FINDING: Finding = {
  verdict: 'unsupported',
  probability: null,
  evidence: null,
  unsupportedSpans: [],
};

function toFinding(
  { verdict, chance, evidence, unsupportedSpans }: Awaited<ReturnType<LookUpSupport>>,
  { chunks }: SupportLookup,
): Finding {
  const chunk = chunks.find((each) => each === evidence?.passage);
  const { start = 0, end = 0 } = evidence ?? {};
  const found = chunk && { chunkId: chunk.chunkId, start, end, text: chunk.text.slice(start, end) };
  return { verdict, probability: chance, evidence: found ?? null, unsupportedSpans };
}

function toCheckedAnswer(
  { text, unknown, markers }: CleanedAnswer,
  plan: readonly PlannedSentence[],
  findings: ReadonlyMap<string, Finding>,
  register: SourceRegister,
  checkedBy: CheckedBy,
): CheckedAnswer {
  const findingOf = (lookup: SupportLookup | null) =>
    lookup === null ? null : (findings.get(lookup.key) ?? NO_FINDING);
  const verdicts = new Map<string, SentenceVerdict>();
  for (const { bySource } of plan.flatMap(({ whole, parts }) => [whole, ...parts])) {
    for (const { ref, lookup } of bySource) {
      const { verdict } = findings.get(lookup.key) ?? NO_FINDING;
      verdicts.set(ref, betterVerdict(verdicts.get(ref) ?? 'unsupported', verdict));
    }
  }
  // A marker without a sentence supports nothing.
  for (const ref of refsOf(markers)) if (!verdicts.has(ref)) verdicts.set(ref, 'unsupported');
  const cited = Array.from(verdicts, ([ref, verdict]): Citation[] => {
    const chunk = register.chunkOf(ref);
    return chunk === undefined ? [] : [toCitation(toCitableSource(chunk, ref), verdict)];
  }).flat();
  const uncited = Array.from(unknown, (name) => createUnknownCitation(oneLine(name, LONGEST_MARKER) || '?'));
  const sentences = plan.map(({ claim, whole, parts }) =>
    toCheckedSentence(
      claim,
      findingOf(whole.combined),
      parts.flatMap(({ combined }) => findingOf(combined) ?? []),
    ),
  );
  return { answer: text, citations: [...cited, ...uncited], sentences, checkedBy };
}

/** A sentence whose parts cite their own sources is as good as its worst part, if that is better than the whole. */
function toCheckedSentence(
  claim: AnswerClaim,
  whole: Finding | null,
  parts: readonly Finding[],
): CheckedSentence {
  const rankOf = ({ verdict }: Finding) => VERDICT_RANK[verdict];
  const worst = parts.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
  const isBetterInParts = worst !== undefined && whole !== null && rankOf(worst) > rankOf(whole);
  const finding = isBetterInParts ? worst : whole;
  return {
    start: claim.start,
    end: claim.end,
    text: claim.text,
    refs: refsOf(claim.markers),
    verdict: finding?.verdict ?? null,
    probability: finding?.probability ?? null,
    evidence: finding?.evidence ?? null,
    unsupportedSpans: (whole?.unsupportedSpans ?? []).map((range) => toAnswerRange(claim, range)),
  };
}

function refsOf(markers: readonly CitationMarker[]): string[] {
  return [...new Set(markers.flatMap(({ references }) => references.map(({ name }) => name)))];
}

function betterVerdict(a: SentenceVerdict, b: SentenceVerdict): SentenceVerdict {
  return VERDICT_RANK[a] >= VERDICT_RANK[b] ? a : b;
}
