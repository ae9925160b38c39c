import type { Citation } from '../../domain/citation.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { Feedback } from '../../ports/session-store.ts';
import type { AskEvent, StoredTurn } from './api.ts';

export interface Search {
  id: string;
  query: string;
  /** Null while it is under way. */
  found: number | null;
  error: string | null;
}

/** One question and what is known of its answer so far. */
export interface TurnState {
  question: string;
  status: 'running' | 'done' | 'failed' | 'stopped';
  /** What is happening, for people. */
  activity: string;
  searches: Search[];
  text: string;
  citations: Citation[];
  notices: string[];
  error: string | null;
  turn: ConversationTurn | null;
  feedback: Feedback['verdict'] | null;
  stale: StoredTurn['stale'];
}

export function newTurn(question: string): TurnState {
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
    feedback: null,
    stale: {},
  };
}

export function storedTurn({ turn, feedback, stale, moved }: StoredTurn): TurnState {
  return {
    ...completed(newTurn(turn.userQuery), turn),
    // What moved opens where it stands now.
    citations: turn.response.citations.map((citation) => ({
      ...citation,
      ...moved[citation.chunkId ?? ''],
    })),
    searches: turn.retrievals.map(({ query, chunks }, index) => ({
      id: String(index),
      query,
      found: chunks.length,
      error: null,
    })),
    feedback: feedback?.verdict ?? null,
    stale,
  };
}

/** The turn after an event. */
export function afterEvent(state: TurnState, event: AskEvent): TurnState {
  switch (event.type) {
    case 'waiting':
      return { ...state, activity: event.ahead > 0 ? `Waiting behind ${event.ahead}` : 'Waiting' };
    case 'phase':
      if (event.to === 'retrieving') return { ...state, activity: 'Searching' };
      // What was said before another search is not the answer.
      return event.to === 'generating' ? { ...state, activity: 'Writing', text: '' } : state;
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
      return { ...state, text: state.text + event.delta };
    case 'notice':
      return { ...state, notices: [...state.notices, event.message] };
    case 'citations':
      return { ...state, citations: event.citations };
    case 'turn_completed':
      return completed(state, event.turn);
    case 'error':
      return failed(state, event.error.message, event.error.userMessage);
    default:
      return state;
  }
}

export function failed(state: TurnState, message: string, advice = ''): TurnState {
  const said = advice === '' || message.includes(advice) ? message : `${message} ${advice}`;
  return { ...state, status: 'failed', activity: '', error: said };
}

function completed(state: TurnState, turn: ConversationTurn): TurnState {
  const { answer, citations } = turn.response;
  const gone = citations.flatMap((citation) => (citation.gone ? (citation.chunkId ?? []) : []));
  const stale = Object.fromEntries(gone.map((chunkId) => [chunkId, 'gone' as const]));
  return { ...state, status: 'done', activity: '', text: answer, citations, turn, stale };
}

/** What a screen reader says: not each word, but each step. A failure speaks for itself. */
export function statusLine(last: TurnState | undefined): string {
  if (last === undefined || last.status === 'failed') return '';
  if (last.status === 'running') return last.activity;
  if (last.status === 'stopped') return 'Stopped.';
  const { length } = last.citations;
  const citations = length === 1 ? '1 citation' : `${length} citations`;
  return `Answer complete, ${last.turn?.response.grounded ? 'grounded' : 'not grounded'}, ${citations}.`;
}
