import { saysNoInformation } from '../../domain/abstention.ts';
import { citationPassed } from '../../domain/citation.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import type { RecordedTurn } from '../../ports/session-store.ts';
import { splitSentences } from '../../text/split-sentences.ts';
import { oneLine } from '../../text/visible-text.ts';
import { createRandomIndex } from '../statistics/random.ts';
import { type EvaluationCase, evaluationCaseSchema, type HistoryMessage } from './evaluation-case.ts';
import { sourceSuffix } from './expected-source.ts';
import { actionOf } from './word-questions.ts';

export type DraftChunk = Pick<RetrievedChunk, 'text' | 'url' | 'title' | 'headings'>;

const DEFINITION =
  /^(?:(?:the|an?) )?((?:[\p{Lu}`][\p{L}\p{N}`.+/-]*|[\p{Ll}\p{N}-]+)(?: [\p{L}\p{N}`.+/-]+){0,3}) (is|are) ((?:an?|the) .{20,})$/iu;
export const PRONOUN =
  /^(?:it|this|that|these|those|they|there|he|she|we|you|here|what|which|one|each|both|such|if|when|in|on|at|for|with|as|by|to|and|but|so|all|most|some|no)\b/i;
const PHRASE_WORDS = 6;
const SHORTEST_SENTENCE = 6;
const LONGEST_HEADING = 80;

/** What no collection about something else should answer, and what needs no search: for abstention and decision. */
const BESIDE: readonly Omit<EvaluationCase, 'id'>[] = [
  { question: 'Hello!', needsRetrieval: false, tags: ['draft', 'chit-chat'] },
  { question: 'Thank you, that helped.', needsRetrieval: false, tags: ['draft', 'chit-chat'] },
  { question: 'Who won the football world cup in 1974?', answerable: false, tags: ['draft', 'off-topic'] },
  {
    question: 'How long do I boil an egg so that the yolk stays soft?',
    answerable: false,
    tags: ['draft', 'off-topic'],
  },
  {
    question: 'Which bank gives the best rate on a mortgage?',
    answerable: false,
    tags: ['draft', 'off-topic'],
  },
];

/**
 * Questions made of the headings and sentences of a collection, without a model: a start for a person to correct.
 * Passages are drawn evenly over the documents, the same for the same seed. Few questions that do not belong follow.
 */
export function draftCases(chunks: readonly DraftChunk[], count: number, seed: number): EvaluationCase[] {
  const drafts: Omit<EvaluationCase, 'id'>[] = [];
  const questions = new Set<string>();
  for (const chunk of inTurns(chunks, createRandomIndex(seed))) {
    if (drafts.length >= count) break;
    const draft = draftOf(chunk);
    if (draft === null || questions.has(draft.question.toLowerCase())) continue;
    questions.add(draft.question.toLowerCase());
    drafts.push(draft);
  }
  const all = drafts.length === 0 ? [] : [...drafts, ...BESIDE];
  return all.map((draft, index) =>
    evaluationCaseSchema.parse({ id: `draft-${String(index + 1).padStart(3, '0')}`, ...draft }),
  );
}

function draftOf(chunk: DraftChunk): Omit<EvaluationCase, 'id'> | null {
  const sentences = splitSentences(chunk.text)
    .filter(({ heading }) => !heading)
    .map(({ start, end }) => chunk.text.slice(start, end).replace(/\s+/g, ' ').trim())
    .filter((sentence) => /[.!]$/.test(sentence) && sentence.split(' ').length >= SHORTEST_SENTENCE);
  return fromDefinition(sentences, chunk) ?? fromHeading(sentences, chunk);
}

function fromDefinition(sentences: readonly string[], chunk: DraftChunk): Omit<EvaluationCase, 'id'> | null {
  for (const sentence of sentences) {
    const [, subject = '', verb = 'is', rest = ''] = DEFINITION.exec(sentence) ?? [];
    if (subject === '' || PRONOUN.test(subject)) continue;
    return draft(`What ${verb} ${subject}?`, rest, chunk, 'definition');
  }
  return null;
}

function fromHeading([first]: readonly string[], chunk: DraftChunk): Omit<EvaluationCase, 'id'> | null {
  const heading = oneLine(chunk.headings.at(-1) ?? '', LONGEST_HEADING).replace(/^[\d.]+\s+/, '');
  if (heading === '' || first === undefined || PRONOUN.test(first)) return null;
  const about = heading === chunk.title ? '' : ` in "${oneLine(chunk.title, LONGEST_HEADING)}"`;
  const action = actionOf(heading);
  const question = heading.endsWith('?')
    ? heading
    : action === null
      ? `What is said about "${heading}"${about}?`
      : `How do I ${action}?`;
  return draft(question, first, chunk, 'heading');
}

function draft(
  question: string,
  evidence: string,
  chunk: DraftChunk,
  tag: string,
): Omit<EvaluationCase, 'id'> {
  const phrase = evidence
    .split(' ')
    .slice(0, PHRASE_WORDS)
    .join(' ')
    .replace(/[\s.,;:!?]+$/, '');
  return {
    question,
    expectedSources: [sourceSuffix(chunk.url)],
    expectedPhrases: [phrase],
    answerable: true,
    needsRetrieval: true,
    tags: ['draft', tag],
    note: oneLine(`From ${[chunk.title, ...chunk.headings].join(' > ')}: ${evidence}`, 300),
  };
}

/** One chunk of each document in turn, so that long documents do not crowd out short ones. */
export function inTurns(chunks: readonly DraftChunk[], random: (bound: number) => number): DraftChunk[] {
  const byDocument = new Map<string, DraftChunk[]>();
  for (const chunk of chunks) byDocument.set(chunk.url, [...(byDocument.get(chunk.url) ?? []), chunk]);
  const documents = shuffled([...byDocument.values()], random).map((list) => shuffled(list, random));
  const longest = Math.max(0, ...documents.map((list) => list.length));
  return Array.from({ length: longest }, (_, round) => documents.flatMap((list) => list[round] ?? [])).flat();
}

function shuffled<T>(list: readonly T[], random: (bound: number) => number): T[] {
  const result = [...list];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = random(last + 1);
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}

/** Exchanges of the past that a case keeps. */
const MOST_EXCHANGES = 3;

/**
 * Cases from the turns of a session. Where a person found the answer good, its sources or its refusal are the gold;
 * where bad, or where nobody said, the case has none yet, and the note says what was answered.
 */
export function draftFromSession(
  session: Pick<ConversationSession, 'sessionId' | 'segments'>,
  turns: readonly RecordedTurn[],
  abstentionPhrases: readonly string[] = [],
): EvaluationCase[] {
  const starts = segmentStarts(session);
  let history: HistoryMessage[] = [];
  return turns.map(({ turn, feedback }, index): EvaluationCase => {
    if (starts.has(index)) history = [];
    const { answer } = turn.response;
    const before = history.slice(-2 * MOST_EXCHANGES);
    history = [...history, { role: 'user', content: turn.userQuery }, { role: 'assistant', content: answer }];
    return evaluationCaseSchema.parse({
      id: `${session.sessionId.slice(0, 8)}-${turn.response.turnNumber}`,
      question: turn.userQuery,
      conversation: session.sessionId.slice(0, 8),
      ...(before.length > 0 && { history: before }),
      ...goldOf({ turn, feedback }, abstentionPhrases),
      tags: ['draft', feedback === null ? 'unjudged' : feedback.verdict],
      note: noteOf({ turn, feedback }),
    });
  });
}

function goldOf(
  { turn: { response }, feedback }: RecordedTurn,
  abstentionPhrases: readonly string[],
): Partial<EvaluationCase> {
  if (feedback?.verdict !== 'good') return {};
  const { answer, citations, retrievalPerformed } = response;
  if (saysNoInformation(answer, abstentionPhrases)) return { answerable: false, needsRetrieval: true };
  const sources = [...new Set(citations.filter(citationPassed).map(({ url }) => sourceSuffix(url)))];
  if (sources.length === 0) return { needsRetrieval: retrievalPerformed };
  return { expectedSources: sources, answerable: true, needsRetrieval: true };
}

function noteOf({ turn: { response }, feedback }: RecordedTurn): string {
  const judged = feedback === null ? 'Nobody judged' : `A person found ${feedback.verdict}`;
  const why = feedback?.why ? ` (${oneLine(feedback.why, 200)})` : '';
  return `${judged}${why}: ${oneLine(response.answer, 300)}`;
}

/** The numbers from 0 of the turns that came first after a reset. */
function segmentStarts({ segments }: Pick<ConversationSession, 'segments'>): Set<number> {
  let turns = 0;
  return new Set(segments.map(({ turnCount }) => (turns += turnCount)));
}
