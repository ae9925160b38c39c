import { indexTerms, queryTerms } from '../../text/terms.ts';
import { type Candidate, candidateSentences } from './candidate-sentences.ts';
import { isAnswered, type Question } from './is-answered.ts';
import type { Passage } from './read-request.ts';
import { topicOf } from './standalone-query.ts';

/** How alike a query is to each of some texts, in 0..1. */
export type Similarity = (query: string, texts: readonly string[]) => Promise<number[]>;

const MAX_SENTENCES = 5;
/** Sentences that are compared by meaning; the rest has too little in common with the query. */
const MAX_COMPARED = 12;
/** A further sentence must be nearly as good as the best one. */
const SHARE_OF_BEST = 0.72;
/** Prose reads better than a row or a line of code that is as good. */
const LESS_READABLE = 0.05;
/** Two sentences that share more of their terms say the same. */
const TOO_ALIKE = 0.6;

const LEANS_ON_CONTEXT =
  /^(?:it|its|this|that|these|those|they|their|he|she|such|both|however|therefore|thus|instead|otherwise|also|then|here|there)\b/i;

interface ScoredCandidate extends Candidate {
  score: number;
  /** How alike it is to the query by meaning. */
  meaning: number;
  terms: ReadonlySet<string>;
}

/**
 * Two to five sentences, word for word from the passages, each followed by the ref of its passage. They are
 * chosen by relevance and do not repeat each other. Null if no sentence is about the question.
 */
export async function extractAnswer(
  question: Question,
  passages: readonly Passage[],
  similarity: Similarity,
): Promise<string | null> {
  const candidates = await scored(question.query, passages, similarity);
  const [best, ...others] = candidates.toSorted((a, b) => b.score - a.score);
  const meaning = Math.max(0, ...candidates.map((candidate) => candidate.meaning));
  if (best === undefined || !isAnswered(question, passages, meaning)) return null;
  const chosen = [best];
  for (const candidate of others) {
    if (candidate.kind !== 'sentence') continue;
    if (chosen.length === MAX_SENTENCES || candidate.score < SHARE_OF_BEST * best.score) break;
    if (chosen.every((other) => alikeness(other, candidate) < TOO_ALIKE)) chosen.push(candidate);
  }
  if (chosen.length === 1) chosen.push(...companion(best, candidates));
  // The best sentence leads; the others follow in the order of the documents.
  const rest = chosen.slice(1).sort((a, b) => a.passage - b.passage || a.position - b.position);
  const quoted = rest.map(cited).join(' ');
  if (best.kind === 'sentence') return [cited(best), ...rest.map(cited)].join(' ');
  // A row under the head of its table, or a line of code under what leads in to it; the prose follows.
  const leadIn = best.leadIn === null || rest.some(({ text }) => text === best.leadIn) ? '' : best.leadIn;
  return [leadIn === '' ? '' : `${leadIn} [${best.ref}]`, cited(best), quoted]
    .filter((line) => line !== '')
    .join('\n\n');
}

function cited({ text, ref }: Candidate): string {
  return `${text} [${ref}]`;
}

async function scored(
  query: string,
  passages: readonly Passage[],
  similarity: Similarity,
): Promise<ScoredCandidate[]> {
  const wanted = queryTerms(query);
  const definition = definitionPattern(query);
  const candidates = candidateSentences(passages).map((candidate) => ({
    ...candidate,
    terms: new Set(indexTerms(candidate.compared)),
  }));
  const weights = termWeights(wanted, candidates);
  const byWords = candidates
    .map((candidate) => {
      const titleTerms = new Set(indexTerms(passages[candidate.passage]?.title ?? ''));
      return { ...candidate, words: coverage(weights, candidate.terms, titleTerms) };
    })
    .sort((a, b) => b.words - a.words || a.passage - b.passage || a.position - b.position)
    .slice(0, MAX_COMPARED);
  const meaning = await similarity(
    query,
    byWords.map(({ compared }) => compared),
  );
  return byWords.map(({ words, ...candidate }, index) => {
    const passageScore = passages[candidate.passage]?.score ?? 0;
    const relevance = 0.55 * Math.max(0, meaning[index] ?? 0) + 0.3 * words + 0.15 * passageScore;
    const bonus = definition?.test(candidate.text) ? 0.25 : 0;
    const penalty = LEANS_ON_CONTEXT.test(candidate.text) ? 0.12 : 0;
    const form = candidate.kind === 'sentence' ? 0 : LESS_READABLE;
    return { ...candidate, meaning: meaning[index] ?? 0, score: relevance + bonus - penalty - form };
  });
}

/** The sentence that goes on from the best one, or else the one that comes before it. */
function companion(best: ScoredCandidate, candidates: readonly ScoredCandidate[]): ScoredCandidate[] {
  const near = candidates
    .filter(
      (other) =>
        other.kind === 'sentence' &&
        other.passage === best.passage &&
        Math.abs(other.position - best.position) === 1,
    )
    .sort((a, b) => b.position - a.position);
  return near.slice(0, 1);
}

/** Terms that few of the sentences have say most. */
function termWeights(
  wanted: readonly string[],
  candidates: readonly { terms: ReadonlySet<string> }[],
): Map<string, number> {
  return new Map(
    wanted.map((term) => {
      const containing = candidates.filter(({ terms }) => terms.has(term)).length;
      return [term, Math.log(1 + (candidates.length + 1) / (containing + 0.5))];
    }),
  );
}

/** The share of the query's weight that a sentence has; what its title has counts half. */
function coverage(
  weights: ReadonlyMap<string, number>,
  terms: ReadonlySet<string>,
  titleTerms: ReadonlySet<string>,
): number {
  let total = 0;
  let covered = 0;
  for (const [term, weight] of weights) {
    total += weight;
    if (terms.has(term)) covered += weight;
    else if (titleTerms.has(term)) covered += weight / 2;
  }
  return total === 0 ? 0 : covered / total;
}

function alikeness(a: ScoredCandidate, b: ScoredCandidate): number {
  const shared = [...a.terms].filter((term) => b.terms.has(term)).length;
  return shared / Math.min(a.terms.size, b.terms.size);
}

/** "What is X?" is best answered by a sentence that begins "X is". */
function definitionPattern(query: string): RegExp | null {
  if (
    !/^(?:what|who)(?:'s|’s)?\s|^(?:define|explain|describe)\b|^tell me (?:more )?about\b/i.test(query.trim())
  )
    return null;
  const topic = topicOf(query).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(
    `^(?:[\\w-]+ ){0,2}${topic}s?(?: \\([^)]*\\))? (?:is|are|means|stands for|refers to|describes)\\b`,
    'i',
  );
}
