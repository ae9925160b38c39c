import { READ_SOURCE } from '../../agent/tools/read-source.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import { AppError } from '../../domain/app-error.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { WaitingEvent } from '../turns/turn-runner.ts';
import type { Answer, AnswerEvent } from '../wire/answer.ts';
import { createMarkerFilter } from './marker-filter.ts';
import { urlCitations } from './url-citations.ts';

/** What a model says before it searches is short; from here on, it is taken for the answer. */
const LONGEST_PREAMBLE = 400;
/** Passages that one reading around a hit may add. */
const READ_AROUND = 5;

/**
 * A turn as an answer in the making. Text goes out as it comes once something was retrieved; before that it may
 * be what a model says before it searches, which is no part of the answer, so it is held back. Throws an AppError
 * when the turn comes to nothing.
 */
export async function* answerEvents(
  events: AsyncIterable<RunEvent | WaitingEvent>,
): AsyncGenerator<AnswerEvent> {
  const chunks = new Set<string>();
  let readAround = 0;
  let retrieved = false;
  let preamble = '';
  let sent = false;
  const filter = createMarkerFilter((ref) => ref >= 1 && ref <= chunks.size + readAround);

  for await (const event of events) {
    if (event.type === 'retrieval_finished') {
      retrieved = true;
      for (const { chunkId } of event.context?.chunks ?? []) chunks.add(chunkId);
    }
    if (event.type === 'tool_call') {
      if (event.call.name === READ_SOURCE) readAround += READ_AROUND;
      preamble = '';
      if (sent) yield { type: 'delta', text: `${filter.end()}\n\n` };
    }
    if (event.type === 'text_delta') {
      preamble += event.delta;
      if (!retrieved && !sent && preamble.length <= LONGEST_PREAMBLE) continue;
      const text = filter.push(preamble);
      preamble = '';
      if (text !== '') yield { type: 'delta', text: sent ? text : text.trimStart() };
      sent ||= text.trim() !== '';
    }
    if (event.type === 'turn_completed') {
      const rest = sent ? filter.end() : '';
      if (rest !== '') yield { type: 'delta', text: rest };
      yield { type: 'done', answer: toAnswer(event.turn) };
      return;
    }
    if (event.type === 'error') {
      const { errorType, message, userMessage, recoverable, retryAfter } = event.error;
      throw new AppError(errorType, message, {
        hint: userMessage,
        recoverable,
        ...(retryAfter !== null && { retryAfter }),
      });
    }
  }
  throw new AppError('api_error', 'The turn ended without an answer.', { recoverable: true });
}

/** The answer of a turn alone. */
export async function wholeAnswer(events: AsyncIterable<RunEvent | WaitingEvent>): Promise<Answer> {
  for await (const event of answerEvents(events)) if (event.type === 'done') return event.answer;
  throw new AppError('api_error', 'The turn ended without an answer.', { recoverable: true });
}

function toAnswer({ response, decisions }: ConversationTurn): Answer {
  const { answer, citations, tokensUsed, grounded, confidence } = response;
  const searches = decisions.flatMap((decision) =>
    decision.searched
      ? [{ query: decision.query, found: decision.chunks.length, cited: decision.cited.length }]
      : [],
  );
  return {
    text: answer,
    citations: urlCitations(answer, citations),
    calls: [],
    usage: tokensUsed,
    extra: { citeloop: { grounded, confidence, model: response.model, citations, searches } },
  };
}

/** The annotations of what was really sent. */
export function annotateSent(sent: string, { extra }: Answer) {
  const { citations = [] } = (extra?.citeloop ?? {}) as Partial<Pick<AgentResponse, 'citations'>>;
  return urlCitations(sent, citations);
}
