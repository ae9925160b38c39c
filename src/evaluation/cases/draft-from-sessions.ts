import { saysNoInformation } from '../../domain/agent-response.ts';
import { citationPassed } from '../../domain/citation.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import { oneLine } from '../../domain/visible-text.ts';
import type { RecordedTurn } from '../../ports/session-store.ts';
import { type EvaluationCase, evaluationCaseSchema, type HistoryMessage } from './evaluation-case.ts';
import { sourceSuffix } from './source-suffix.ts';

/** Exchanges of the past that a case keeps. */
const MOST_EXCHANGES = 3;

/**
 * Cases from the turns of a session. Where a person found the answer good, its sources or its refusal are the gold;
 * where bad, or where nobody said, the case has none yet, and the note says what was answered.
 */
export function draftFromSession(
  session: Pick<ConversationSession, 'sessionId' | 'segments'>,
  turns: readonly RecordedTurn[],
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
      ...(before.length > 0 && { history: before }),
      ...goldOf({ turn, feedback }),
      tags: ['draft', feedback === null ? 'unjudged' : feedback.verdict],
      note: noteOf({ turn, feedback }),
    });
  });
}

function goldOf({ turn: { response }, feedback }: RecordedTurn): Partial<EvaluationCase> {
  if (feedback?.verdict !== 'good') return {};
  const { answer, citations, retrievalPerformed } = response;
  if (saysNoInformation(answer)) return { answerable: false, needsRetrieval: true };
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
