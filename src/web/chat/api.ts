import type { Policy } from '../../domain/agent-config.ts';
import type { Citation } from '../../domain/citation.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { Location } from '../../domain/location.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { Feedback, SessionSummary } from '../../ports/session-store.ts';

export interface About {
  version: string;
  model: string;
  policy: Policy;
  policies: Policy[];
  collection: string;
}

export interface CollectionChoice {
  name: string;
  documents: number;
  chunks: number;
  error: string | null;
}

export interface StoredTurn {
  turn: ConversationTurn;
  feedback: Feedback | null;
  /** What became of cited passages since, by chunk id. */
  stale: Record<string, 'changed' | 'vanished' | 'gone'>;
  /** Where the words of those stand that moved. */
  moved: Record<string, Pick<Citation, 'chunkId' | 'url'>>;
}

interface StoredSession {
  session: Omit<ConversationSession, 'messages'>;
  turns: StoredTurn[];
}

/** The newest sessions, and whether there are more. */
export interface SessionPage {
  sessions: SessionSummary[];
  more: boolean;
}

export interface Passage {
  chunkId: string;
  headings: string[];
  location?: Location;
  text: string;
  isCited: boolean;
}

export interface Source {
  url: string;
  title: string;
  module: string | null;
  passages: Passage[];
}

export interface Question {
  question: string;
  sessionId?: string | undefined;
  collection?: string | undefined;
  policy?: Policy | undefined;
}

export type AskEvent =
  | { type: 'session'; sessionId: string; collection: string; model: string; turnNumber: number }
  | { type: 'waiting'; ahead: number }
  | RunEvent;

/** What the server refused, in its own words. */
export class RefusedError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TOKEN = 'citeloop.token';

/** Kept until the tab is closed, where other pages cannot read it. */
export function setToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN) !== null;
}

/** What to say of a request that failed. */
export function sentenceOf(error: unknown): string {
  if (error instanceof RefusedError) return error.message;
  return 'The server cannot be reached. Is citeloop serve still running?';
}

export const api = {
  about: () => get<About>('/api/about'),
  collections: () => get<{ default: string; collections: CollectionChoice[] }>('/api/collections'),
  suggestions: (collection: string) =>
    get<{ questions: string[] }>(`/api/suggestions?${new URLSearchParams({ collection })}`),
  sessions: () => get<SessionPage>('/api/sessions'),
  session: (id: string) => get<StoredSession>(`/api/sessions/${encodeURIComponent(id)}`),
  source: (chunkId: string, collection: string | undefined) => {
    const query = new URLSearchParams({
      before: '2',
      after: '2',
      ...(collection !== undefined && { collection }),
    });
    return get<Source>(`/api/sources/${encodeURIComponent(chunkId)}?${query}`);
  },
  file: async (chunkId: string, collection: string | undefined) => {
    const query = collection === undefined ? '' : `?${new URLSearchParams({ collection })}`;
    return (await send('GET', `/api/files/${encodeURIComponent(chunkId)}${query}`)).blob();
  },
  forget: (id: string) => send('DELETE', `/api/sessions/${encodeURIComponent(id)}`),
  reset: (id: string) => send('POST', `/api/sessions/${encodeURIComponent(id)}/reset`, {}),
  judge: (id: string, turnNumber: number, verdict: Feedback['verdict']) =>
    send('POST', `/api/sessions/${encodeURIComponent(id)}/feedback`, { verdict, turnNumber }),

  /** The events of a turn as they come. Aborting frees the turn on the server too. */
  async *ask(question: Question, signal: AbortSignal): AsyncGenerator<AskEvent> {
    const response = await send('POST', '/api/ask', question, signal);
    let rest = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield JSON.parse(line) as AskEvent;
    }
  },
};

async function get<T>(path: string): Promise<T> {
  return (await send('GET', path)).json() as Promise<T>;
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN);
  const response = await fetch(path, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
  throw new RefusedError(response.status, error?.message ?? `The server answered with ${response.status}.`);
}
