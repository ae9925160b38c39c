import { throwNoAnswer } from '../../agent/wait-for-turn.ts';
import { findMarkers } from '../../citations/find-markers.ts';
import type { AgentResponse, TokensUsed } from '../../domain/agent-response.ts';
import { isPassedCitation } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { AppError } from '../../faults/app-error.ts';
import { fromErrorResponse } from '../../faults/error-response.ts';
import type { WaitingEvent } from '../turns/turn-runner.ts';

/** The answer of a turn, before it is written in the format of one of the APIs. */
export interface AgentAnswer {
  text: string;
  usage: TokensUsed;
  /** What the agent knows about its answer, sent under this name. */
  citeloop: Pick<
    AgentResponse,
    'outcome' | 'grounded' | 'confidence' | 'finishReason' | 'model' | 'citations' | 'sentences' | 'checkedBy'
  > & {
    searches: { query: string; found: number; cited: number }[];
  };
}

/** `done` comes last and once; its text replaces what was streamed. */
export type AnswerEvent = { type: 'delta'; text: string } | { type: 'done'; answer: AgentAnswer };

export interface AnswerIdentity {
  /** Without the prefix of the API. */
  id: string;
  /** Seconds since 1970. */
  createdAt: number;
  model: string;
}

export interface AnswerStream {
  identity: AnswerIdentity;
  events: AsyncIterable<AnswerEvent>;
  /** Called once when the client stops reading before the end. */
  onCancel: () => void;
}

/** Text before the first search is held back up to this length; longer text is taken for the answer. */
const LONGEST_PREAMBLE = 400;

/**
 * Turns the events of a turn into a streamed answer. Text is passed on once something was retrieved; earlier text may be
 * what a model says before it searches, which is not part of the answer. Throws an AppError if the turn fails.
 */
export async function* streamAnswer(
  events: AsyncIterable<RunEvent | WaitingEvent>,
): AsyncGenerator<AnswerEvent> {
  let retrieved = false;
  let preamble = '';
  let sent = false;

  for await (const event of events) {
    if (event.type === 'retrieval_finished') retrieved = true;
    if (event.type === 'tool_call') {
      preamble = '';
      if (sent) yield { type: 'delta', text: '\n\n' };
    }
    if (event.type === 'text_discarded') {
      // The APIs cannot take back what was sent.
      if (sent) throw brokenAnswerError();
      preamble = '';
    }
    if (event.type === 'text_delta') {
      preamble += event.delta;
      if (!retrieved && !sent && preamble.length <= LONGEST_PREAMBLE) continue;
      const text = preamble;
      preamble = '';
      if (text !== '') yield { type: 'delta', text: sent ? text : text.trimStart() };
      sent ||= text.trim() !== '';
    }
    if (event.type === 'turn_completed') {
      yield { type: 'done', answer: toAgentAnswer(event.turn) };
      return;
    }
    if (event.type === 'error') throw fromErrorResponse(event.error);
  }
  throwNoAnswer();
}

/** The answer of a turn without a stream. Throws as `streamAnswer` does. */
export async function collectAnswer(events: AsyncIterable<RunEvent | WaitingEvent>): Promise<AgentAnswer> {
  for await (const event of events) {
    if (event.type === 'turn_completed') return toAgentAnswer(event.turn);
    if (event.type === 'error') throw fromErrorResponse(event.error);
  }
  return throwNoAnswer();
}

function brokenAnswerError(): AppError {
  const message = 'The answer of the model broke off in the middle.';
  return new AppError('api_error', message, { recoverable: true, hint: 'Ask again.' });
}

function toAgentAnswer({ response, decisions }: ConversationTurn): AgentAnswer {
  const { outcome, grounded, confidence, finishReason, model, citations, sentences, checkedBy } = response;
  const searches = decisions.flatMap((decision) =>
    decision.searched
      ? [{ query: decision.query, found: decision.chunks.length, cited: decision.cited.length }]
      : [],
  );
  return {
    text: response.answer,
    usage: response.tokensUsed,
    citeloop: {
      outcome,
      grounded,
      confidence,
      finishReason,
      model,
      citations,
      sentences,
      checkedBy,
      searches,
    },
  };
}

export interface UrlCitation {
  start_index: number;
  end_index: number;
  url: string;
  title: string;
}

/** The markers in an answer, or in the part of it that was sent, whose source supports it at least weakly. */
export function findUrlCitations({ text, citeloop }: AgentAnswer, sent = text): UrlCitation[] {
  const byMarker = new Map(citeloop.citations.map((citation) => [citation.marker, citation]));
  return findMarkers(sent, (ref) => byMarker.has(ref)).flatMap(({ start, end, names }) =>
    names.flatMap((name) => {
      const citation = byMarker.get(name);
      if (citation === undefined || !isPassedCitation(citation)) return [];
      return [{ start_index: start, end_index: end, url: citation.url, title: citation.title }];
    }),
  );
}

/** What is left of a text after the part that was sent; empty if the text does not start with that part. */
export function unsentText(text: string, sent: string): string {
  return text.startsWith(sent) ? text.slice(sent.length) : '';
}

/** Why an answer is incomplete, or null if it is complete. */
export function incompleteReason({ citeloop }: AgentAnswer): 'length' | 'content_filter' | null {
  if (citeloop.finishReason === 'stop') return null;
  return citeloop.finishReason === 'content_filter' ? 'content_filter' : 'length';
}

/** The data line of a server-sent event. */
export function formatDataLine(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
