import type { CheckedSentence } from '../domain/checked-sentence.ts';
import { citationPassed } from '../domain/citation.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import type { Bearing, CheckedAnswer } from './check-answer.ts';

/** A passage that a sentence may be from, with what it is cited by. */
export interface Candidate {
  ref: string;
  chunk: RetrievedChunk;
}

/** An answer with more sentences that cite nothing is none that a mark would help. */
const MOST_SENTENCES = 40;

/**
 * An answer with a mark behind each sentence that has none and is in one of the passages: that of the passage which bears
 * it out best. It is to be checked anew. The same text where nothing was found.
 */
export async function withFoundMarks(
  { answer, sentences }: CheckedAnswer,
  candidates: readonly Candidate[],
  bearing: Bearing,
): Promise<string> {
  let text = '';
  let at = 0;
  for (const sentence of sentences.filter(({ refs }) => refs.length === 0).slice(0, MOST_SENTENCES)) {
    const ref = await sourceOf(sentence, candidates, bearing);
    if (ref === null) continue;
    text += `${answer.slice(at, sentence.end)} [${ref}]`;
    at = sentence.end;
  }
  return text + answer.slice(at);
}

async function sourceOf(
  { text }: CheckedSentence,
  candidates: readonly Candidate[],
  bearing: Bearing,
): Promise<string | null> {
  let best: { ref: string; chance: number } | null = null;
  for (const { ref, chunk } of candidates) {
    const { verdict, chance } = await bearing(text, [chunk]);
    if (citationPassed({ verdict }) && chance > (best?.chance ?? 0)) best = { ref, chance };
  }
  return best?.ref ?? null;
}

/** What was checked with such marks, saying of each sentence and each source whether its mark is one of them. */
export function tellFound(checked: CheckedAnswer, before: CheckedAnswer): CheckedAnswer {
  const cited = new Set(before.sentences.flatMap(({ refs }) => refs));
  const bare = new Set(before.sentences.filter(({ refs }) => refs.length === 0).map(({ text }) => text));
  return {
    ...checked,
    citations: checked.citations.map((citation) =>
      citation.chunkId === null || cited.has(citation.marker) ? citation : { ...citation, foundBy: 'judge' },
    ),
    sentences: checked.sentences.map((sentence) =>
      sentence.refs.length > 0 && bare.has(sentence.text) ? { ...sentence, foundBy: 'judge' } : sentence,
    ),
  };
}
