import { describeAnswerStatus } from '../../domain/answer-status.ts';
import type { Citation } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import { formatCount } from '../../text/format-count.ts';
import type { AskEvent } from './chat-api.ts';

interface ChatSearch {
  id: string;
  query: string;
  /** The number of passages; null while searching. */
  found: number | null;
  error: string | null;
}

/** A question and as much of its answer as has arrived. */
export interface ChatTurn {
  question: string;
  status: 'running' | 'done' | 'failed' | 'stopped';
  /** The current step, as displayed. */
  activity: string;
  searches: ChatSearch[];
  text: string;
  citations: Citation[];
  notices: string[];
  error: string | null;
  /** Null until the turn is complete. */
  turn: ConversationTurn | null;
}

export function createChatTurn(question: string): ChatTurn {
  return {
    question,
    status: 'running',
    activity: 'Sending',
    searches: [],
    text: '',
    citations: [],
    notices: [],
    error: null,
    turn: null,
  };
}

export function restoreChatTurn(turn: ConversationTurn): ChatTurn {
  return {
    ...toCompletedTurn(createChatTurn(turn.userQuery), turn),
    // Reading the passages around a result is a retrieval, but not a search.
    searches: turn.retrievals
      .filter(({ query }) => !query.startsWith('passages around ['))
      .map(({ query, chunks }, index) => ({ id: String(index), query, found: chunks.length, error: null })),
  };
}

export function applyAskEvent(state: ChatTurn, event: AskEvent): ChatTurn {
  switch (event.type) {
    case 'waiting':
      return {
        ...state,
        activity: event.ahead > 0 ? `Waiting for ${formatCount(event.ahead, 'other question')}` : 'Waiting',
      };
    case 'phase':
      if (event.to === 'retrieving') return { ...state, activity: 'Searching' };
      // Text written before another search is not part of the answer.
      return event.to === 'generating' ? { ...state, activity: 'Thinking', text: '' } : state;
    case 'retrieval_started': {
      const search = { id: event.retrievalId, query: event.query, found: null, error: null };
      return { ...state, activity: `Searching: ${event.query}`, searches: [...state.searches, search] };
    }
    case 'retrieval_finished':
      return {
        ...state,
        notices: [...state.notices, ...(event.context?.notes ?? [])],
        searches: state.searches.map((search) =>
          search.id === event.retrievalId
            ? {
                ...search,
                found: event.context?.chunks.length ?? 0,
                error: event.error?.userMessage ?? null,
              }
            : search,
        ),
      };
    case 'text_delta':
      return { ...state, activity: 'Writing', text: state.text + event.delta };
    case 'text_discarded':
      return { ...state, text: '' };
    case 'notice':
      return event.retry === undefined
        ? { ...state, notices: [...state.notices, event.message] }
        : { ...state, activity: event.message };
    case 'citations':
      return { ...state, citations: event.citations };
    case 'turn_completed':
      return toCompletedTurn(state, event.turn);
    case 'error':
      return toFailedTurn(state, event.error.message, event.error.userMessage);
    default:
      return state;
  }
}

export function toFailedTurn(state: ChatTurn, message: string, hint = ''): ChatTurn {
  const error = hint.startsWith(message) ? hint : `${message} ${hint}`.trim();
  return { ...state, status: 'failed', activity: '', error };
}

function toCompletedTurn(state: ChatTurn, turn: ConversationTurn): ChatTurn {
  const { answer, citations } = turn.response;
  return { ...state, status: 'done', activity: '', text: answer, citations, turn };
}

/** For screen readers: announces each step instead of each word. Errors are announced by their own element. */
export function describeTurnStatus(last: ChatTurn | undefined): string {
  if (last === undefined || last.status === 'failed') return '';
  if (last.status === 'running') return last.activity;
  if (last.status === 'stopped') return 'Stopped.';
  const status = last.turn === null ? '' : describeAnswerStatus(last.turn.response).sentence;
  return `Answer complete. ${status}`.trim();
}
