import { formatCount } from '../text/format-count.ts';
import type { AgentResponse } from './agent-response.ts';
import type { CheckedSentence, SentenceEvidence } from './checked-sentence.ts';
import { OFFLINE_MODEL } from './setting-choices.ts';

// The web pages use this file, so it must not depend on zod.

/**
 * One sentence about the citations of an answer; a warning if it is incomplete, flagged or not grounded. Empty if the
 * answer itself says that it found nothing, or only the closest passages.
 */
export function describeAnswerStatus(response: AgentResponse) {
  const { outcome, grounded, citations, retrievalPerformed, finishReason } = response;
  const warning = (reason: string) => ({ sentence: `Not grounded: ${reason}.`, isWarning: true });
  const status = (sentence: string) => ({ sentence, isWarning: false });
  if (finishReason !== 'stop') return warning('the answer is incomplete');
  const isCited = citations.some(({ chunkId }) => chunkId !== null);
  // An answer that begins with what is missing may cite what was found.
  if (grounded || (outcome === 'none' && isCited)) return describeGrounded(response);
  if (outcome !== 'answer') return status('');
  if (isCited) return warning('no cited passage supports the answer');
  if (citations.length > 0) return warning('the answer cited only sources that were not retrieved');
  if (!retrievalPerformed) return status('Answered without searching the documents.');
  return warning('the answer cites none of the passages found');
}

function describeGrounded(response: AgentResponse) {
  const { citations, sentences, checkedBy } = response;
  const known = citations.filter(({ chunkId }) => chunkId !== null).length;
  const count = formatCount(known, 'citation');
  const flagged = findFlagged(sentences).length;
  if (flagged > 0) {
    return { sentence: `${count}, ${formatCount(flagged, 'sentence')} without support`, isWarning: true };
  }
  const refused = citations.filter(({ verdict }) => verdict === 'unsupported').length;
  if (refused > 0) return { sentence: `${count}, ${refused} without support`, isWarning: true };
  const checked = checkedBy === 'off' ? 'not checked' : known === 1 ? 'with evidence' : 'all with evidence';
  const unknown = citations.length - known;
  const removed = unknown === 0 ? '' : `; ${formatCount(unknown, 'unknown source')} removed`;
  return { sentence: `${count}, ${checked}${describeUncited(response)}${removed}`, isWarning: false };
}

/** The offline model only quotes; its sentences without citations are headings. */
function describeUncited({ sentences, model }: AgentResponse): string {
  const statements = sentences.filter(({ text }) => !/:\s*$/.test(text));
  const uncited = statements.filter(({ verdict }) => verdict === null).length;
  if (model === OFFLINE_MODEL || uncited === 0) return '';
  return `; ${uncited} of ${statements.length} sentences cite nothing`;
}

/** The sentences that the check has flagged. */
export function findFlagged(sentences: readonly CheckedSentence[]): CheckedSentence[] {
  return sentences.filter(({ verdict }) => verdict === 'unsupported');
}

/** The answer with a warning sign after each flagged sentence. */
export function markFlagged({ answer, sentences }: Pick<AgentResponse, 'answer' | 'sentences'>): string {
  return findFlagged(sentences).reduceRight(
    (text, { end }) => `${text.slice(0, end)} ⚠${text.slice(end)}`,
    answer,
  );
}

/** Why a sentence is flagged, for people. */
export function describeFlag({ reason, refs }: CheckedSentence): string {
  return reason?.text ?? `not supported by ${refs.map((ref) => `[${ref}]`).join('')}`;
}

/** The evidence of the sentences that a chunk supports, for people: no piece is part of another. */
export function listEvidence(sentences: readonly CheckedSentence[], chunkId: string | null): string[] {
  const texts = sentences.flatMap(({ evidence, verdict }) =>
    evidence !== null && evidence.chunkId === chunkId && verdict !== 'unsupported'
      ? [toEvidenceText(evidence)]
      : [],
  );
  const unique = [...new Set(texts)];
  return unique.filter((text) => !unique.some((other) => other !== text && other.includes(text)));
}

/** The text of evidence without the fences of code, which may begin or end outside of it. */
export function toEvidenceText({ text }: SentenceEvidence): string {
  return text.replace(/^ {0,3}(?:`{3,}|~{3,}).*$/gm, '');
}
