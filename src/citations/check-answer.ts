import type { CheckedBy, CheckedSentence, SentenceVerdict } from '../domain/checked-sentence.ts';
import { type Citation, createUnknownCitation, toCitableSource, toCitation } from '../domain/citation.ts';
import type { CheckContext, CitationChecker, CitedSentence } from '../ports/citation-checker.ts';
import { oneLine } from '../text/visible-text.ts';
import { cleanAnswer } from './clean-answer.ts';
import { findMarkers } from './find-markers.ts';
import type { SourceRegister } from './source-register.ts';
import { type AnswerClaim, splitClaims } from './split-claims.ts';

export interface CheckedAnswer {
  /** Every marker in it is `[n]`, the ref of a source in the register. */
  answer: string;
  /** One for each cited chunk; then one for each unknown source. */
  citations: Citation[];
  sentences: CheckedSentence[];
  checkedBy: CheckedBy;
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
  const { text, unknown } = cleanAnswer(answer, register);
  const markers = findMarkers(text, (ref) => register.chunkOf(ref) !== undefined);
  const claims = splitClaims(text, markers);
  const cited = claims.filter(({ refs }) => refs.length > 0);
  const { checks, checkedBy } = await checker(toCitedSentences(cited, register), context);
  const checkOf = new Map(cited.map((claim, index) => [claim, checks[index]]));
  const sentences = claims.map((claim): CheckedSentence => {
    const { verdict = null, reason = null, evidence = null } = checkOf.get(claim) ?? {};
    return { ...claim, verdict, reason, evidence };
  });
  const citations = [...new Set(markers.flatMap(({ names }) => names))].flatMap((ref) => {
    const chunk = register.chunkOf(ref);
    return chunk === undefined
      ? []
      : toCitation(toCitableSource(chunk, ref), bestVerdict(ref, chunk.chunkId, sentences));
  });
  const unknownCitations = Array.from(unknown, (name) =>
    createUnknownCitation(oneLine(name, LONGEST_MARKER) || '?'),
  );
  return { answer: text, citations: [...citations, ...unknownCitations], sentences, checkedBy };
}

/**
 * Prepares the check of an answer that is still written: of its cited sentences before the last one, without the first
 * `done`. Returns how many are prepared.
 */
export function prepareCheck(
  answer: string,
  register: SourceRegister,
  checker: CitationChecker,
  done: number,
): number {
  if (checker.prepare === undefined) return done;
  const { text } = cleanAnswer(answer, register);
  const claims = splitClaims(
    text,
    findMarkers(text, (ref) => register.chunkOf(ref) !== undefined),
  ).slice(0, -1);
  const cited = toCitedSentences(claims, register);
  if (cited.length > done) void checker.prepare(cited.slice(done));
  return Math.max(done, cited.length);
}

function toCitedSentences(claims: readonly AnswerClaim[], register: SourceRegister): CitedSentence[] {
  return claims.flatMap(({ text, refs }) =>
    refs.length === 0 ? [] : [{ text, refs, chunks: refs.flatMap((ref) => register.chunkOf(ref) ?? []) }],
  );
}

/** A citation is as good as the best sentence with it. A marker without a sentence supports nothing. */
function bestVerdict(ref: string, chunkId: string, sentences: readonly CheckedSentence[]): SentenceVerdict {
  const citing = sentences.filter(({ refs }) => refs.includes(ref));
  if (citing.some(({ verdict, evidence }) => verdict === 'quoted' && evidence?.chunkId === chunkId))
    return 'quoted';
  return citing.some(({ verdict }) => verdict === 'quoted' || verdict === 'supported')
    ? 'supported'
    : 'unsupported';
}
