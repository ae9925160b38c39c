import type { CheckedBy, CheckedSentence, SentenceVerdict } from '../domain/checked-sentence.ts';
import { type Citation, toCitable, unknownCitation, withVerdict } from '../domain/citation.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import { checkClaim, VERDICT_RANK } from '../judge/check-claim.ts';
import type { Support } from '../judge/create-judge.ts';
import { heldFacts } from '../judge/facts/held-facts.ts';
import { oneLine } from '../text/visible-text.ts';
import { type CleanAnswer, cleanAnswer } from './clean-answer.ts';
import type { Marker } from './find-markers.ts';
import type { SourceRegister } from './source-register.ts';
import { type Claim, type ClaimPart, rangeInAnswer } from './split-claims.ts';

export interface CheckedAnswer {
  /** Every marker in it is `[n]`, the ref of a source in the register. */
  answer: string;
  /** One for every cited chunk, with the best verdict among its sentences; then one for every unknown source. */
  citations: Citation[];
  sentences: CheckedSentence[];
  checkedBy: CheckedBy;
}

/** Whether chunks, taken together, bear a sentence out. */
export type Bearing = (
  sentence: string,
  chunks: readonly RetrievedChunk[],
) => Promise<Pick<Support, 'verdict' | 'chance' | 'bearer' | 'unsupportedSpans'>>;

/** What is known of a sentence and its sources. The ranges are of the sentence. */
interface Finding extends Pick<CheckedSentence, 'verdict' | 'probability' | 'evidence' | 'unsupportedSpans'> {
  verdict: SentenceVerdict;
}

/** Looks a sentence up in chunks that were found for it. */
type Look = (text: string, chunks: readonly RetrievedChunk[]) => Finding;

const LONGEST_MARKER = 200;
/** More cited characters than this are looked at by words alone, which takes no time: no person reads such an answer. */
const MOST_JUDGED = 16_000;

/**
 * Cleans an answer and checks each cited sentence against its sources, by words alone. Never throws. Checking what
 * it returns again gives the same answer. A marker of something that was not retrieved never survives.
 */
export function checkAnswer(answer: string, register: SourceRegister): CheckedAnswer {
  return conclude(cleanAnswer(answer, register), register, lookAtWords, 'words');
}

/** The same by a judge. Throws what the judge throws. */
export async function judgeAnswer(
  answer: string,
  register: SourceRegister,
  bearing: Bearing,
): Promise<CheckedAnswer> {
  const cleaned = cleanAnswer(answer, register);
  const asked = lookupsOf(cleaned, register);
  const size = [...asked.values()].reduce((sum, { text }) => sum + text.length, 0);
  if (size > MOST_JUDGED) return conclude(cleaned, register, lookAtWords, 'words');
  const found = new Map<string, Finding>();
  for (const [key, { text, chunks }] of asked) found.set(key, toFinding(await bearing(text, chunks), chunks));
  const look: Look = (text, chunks) => found.get(lookupKey(text, chunks)) ?? NOTHING_FOUND;
  return conclude(cleaned, register, look, 'judge');
}

/** A sentence, or a part of one, and what is to bear it out. */
export interface Lookup {
  text: string;
  chunks: RetrievedChunk[];
}

/** What an answer under way will be judged by, without its last sentence, which may go on. By their keys. */
export function lookupsSoFar(written: string, register: SourceRegister): Map<string, Lookup> {
  const cleaned = cleanAnswer(written, register);
  return lookupsOf({ ...cleaned, claims: cleaned.claims.slice(0, -1) }, register);
}

function lookupsOf(cleaned: CleanAnswer, register: SourceRegister): Map<string, Lookup> {
  const lookups = new Map<string, Lookup>();
  const note: Look = (text, chunks) => {
    lookups.set(lookupKey(text, chunks), { text, chunks: [...chunks] });
    return NOTHING_FOUND;
  };
  conclude(cleaned, register, note, 'judge');
  return lookups;
}

export function lookupKey(text: string, chunks: readonly RetrievedChunk[]): string {
  return JSON.stringify([text, chunks.map(({ chunkId }) => chunkId)]);
}

function toFinding(
  { verdict, chance, bearer, unsupportedSpans }: Awaited<ReturnType<Bearing>>,
  chunks: readonly RetrievedChunk[],
): Finding {
  const chunk = chunks.find((one) => one === bearer?.passage);
  const evidence =
    bearer === null || chunk === undefined
      ? null
      : {
          chunkId: chunk.chunkId,
          start: bearer.start,
          end: bearer.end,
          text: chunk.text.slice(bearer.start, bearer.end),
        };
  return { verdict, probability: chance, evidence, unsupportedSpans };
}

const NOTHING_FOUND: Finding = {
  verdict: 'unsupported',
  probability: null,
  evidence: null,
  unsupportedSpans: [],
};

const lookAtWords: Look = (text, chunks) => {
  const verdicts = chunks.map((chunk) => checkClaim(text, chunk).verdict);
  return { ...NOTHING_FOUND, verdict: verdicts.reduce(better, 'unsupported') };
};

function conclude(
  { text, unknown, markers, claims }: CleanAnswer,
  register: SourceRegister,
  look: Look,
  checkedBy: CheckedBy,
): CheckedAnswer {
  const verdicts = new Map<string, SentenceVerdict>();
  const sentences = claims.map((claim) => checkSentence(claim, register, look, verdicts));
  // A marker without a sentence bears out nothing.
  for (const ref of refsOf(markers)) if (!verdicts.has(ref)) verdicts.set(ref, 'unsupported');
  const cited = Array.from(verdicts, ([ref, verdict]): Citation[] => {
    const chunk = register.chunkOf(ref);
    return chunk === undefined ? [] : [withVerdict(toCitable(chunk, ref), verdict)];
  }).flat();
  const citations = [...cited, ...Array.from(unknown, unknownCitationOf)];
  return { answer: text, citations, sentences, checkedBy };
}

/** How many of the quotes and of the numbers in the cited sentences of an answer stand in what they cite. */
export function countHeldFacts(
  sentences: readonly Pick<CheckedSentence, 'text' | 'refs'>[],
  register: SourceRegister,
): Record<'quotes' | 'numbers', { total: number; held: number }> {
  const facts = sentences.map(({ text, refs }) => {
    const cited = refs.flatMap((ref) => register.chunkOf(ref) ?? []);
    return cited.length === 0 ? { quotes: [], numbers: [] } : heldFacts(text, cited);
  });
  const tally = (held: readonly boolean[]) => ({ total: held.length, held: held.filter(Boolean).length });
  return {
    quotes: tally(facts.flatMap(({ quotes }) => quotes)),
    numbers: tally(facts.flatMap(({ numbers }) => numbers)),
  };
}

/** A sentence that cites as it goes is borne out if each of its parts is. Adds to the verdicts of its refs. */
function checkSentence(
  claim: Claim,
  register: SourceRegister,
  look: Look,
  verdicts: Map<string, SentenceVerdict>,
): CheckedSentence {
  const check = ({ text, markers }: ClaimPart): Finding | null => {
    const sources = refsOf(markers).flatMap((ref) => {
      const chunk = register.chunkOf(ref);
      return chunk === undefined ? [] : [{ ref, chunk }];
    });
    const found = sources.map(({ ref, chunk }) => {
      const finding = look(text, [chunk]);
      verdicts.set(ref, better(verdicts.get(ref) ?? 'unsupported', finding.verdict));
      return finding;
    });
    if (found.length < 2) return found[0] ?? null;
    return look(
      text,
      sources.map(({ chunk }) => chunk),
    );
  };
  const whole = check(claim);
  const parts = claim.parts.map(check).filter((finding) => finding !== null);
  const worst = parts.toSorted((a, b) => VERDICT_RANK[a.verdict] - VERDICT_RANK[b.verdict])[0];
  const isBetterInParts =
    worst !== undefined && whole !== null && VERDICT_RANK[worst.verdict] > VERDICT_RANK[whole.verdict];
  const finding = isBetterInParts ? worst : whole;
  return {
    start: claim.start,
    end: claim.end,
    text: claim.text,
    refs: refsOf(claim.markers),
    verdict: finding?.verdict ?? null,
    probability: finding?.probability ?? null,
    evidence: finding?.evidence ?? null,
    unsupportedSpans: (whole?.unsupportedSpans ?? []).map((range) => rangeInAnswer(claim, range)),
  };
}

function refsOf(markers: readonly Marker[]): string[] {
  return [...new Set(markers.flatMap(({ references }) => references.map(({ name }) => name)))];
}

function better(a: SentenceVerdict, b: SentenceVerdict): SentenceVerdict {
  return VERDICT_RANK[a] >= VERDICT_RANK[b] ? a : b;
}

function unknownCitationOf(name: string): Citation {
  return unknownCitation(oneLine(name, LONGEST_MARKER) || '?');
}
