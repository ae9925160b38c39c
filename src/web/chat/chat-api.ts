import type { RetrievalPolicy } from '../../domain/agent-config.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import type { SourceLocation } from '../../domain/location.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import type { RecordedTurn, SessionSummary } from '../../ports/session-store.ts';

export interface ServerInfo {
  model: string;
  /** The default policy. */
  policy: RetrievalPolicy;
  policies: RetrievalPolicy[];
}

export interface CollectionOption {
  name: string;
  documents: number;
  chunks: number;
  /** Why the collection cannot be searched; null if it can. */
  error: string | null;
}

interface StoredSession {
  session: Omit<ConversationSession, 'messages'>;
  turns: RecordedTurn[];
}

export interface RecentSessions {
  /** Newest first. */
  sessions: SessionSummary[];
  /** Whether there are older ones. */
  more: boolean;
}

export interface SourcePassage {
  chunkId: string;
  headings: string[];
  location?: SourceLocation;
  text: string;
  isCited: boolean;
}

export interface AskRequest {
  question: string;
  sessionId?: string | undefined;
  collection?: string | undefined;
  policy?: RetrievalPolicy | undefined;
}

export type AskEvent =
  | { type: 'session'; sessionId: string; collection: string; model: string; turnNumber: number }
  | { type: 'waiting'; ahead: number }
  | RunEvent;

/** A response with an error status; the message is the server's. */
export class HttpStatusError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TOKEN_KEY = 'citeloop.token';

/** Session storage lasts until the tab is closed and is not readable by other sites. */
export function storeToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token);
}

export function hasStoredToken(): boolean {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

export function describeRequestError(error: unknown): string {
  if (error instanceof HttpStatusError) return error.message;
  return 'Cannot reach the server. Is citeloop serve still running?';
}

/** Every method throws `HttpStatusError`, or `TypeError` if the server cannot be reached. */
export const chatApi = {
  serverInfo: () => getJson<ServerInfo>('/api/about'),
  collections: () => getJson<{ default: string; collections: CollectionOption[] }>('/api/collections'),
  /** The newest conversations, without single questions of `citeloop ask`. */
  async sessions(): Promise<RecentSessions> {
    const { sessions, more } = await getJson<RecentSessions>('/api/sessions?limit=200');
    return { sessions: sessions.filter(({ isInteractive }) => isInteractive), more };
  },
  session: (id: string) => getJson<StoredSession>(`/api/sessions/${encodeURIComponent(id)}`),
  /** A cited chunk with its neighbors. */
  source: (chunkId: string, collection: string | undefined) => {
    const query = new URLSearchParams({ before: '2', after: '2', ...(collection && { collection }) });
    return getJson<{ passages: SourcePassage[] }>(`/api/sources/${encodeURIComponent(chunkId)}?${query}`);
  },
  file: async (chunkId: string, collection: string | undefined) => {
    const query = new URLSearchParams({ ...(collection && { collection }) });
    return (await send('GET', `/api/files/${encodeURIComponent(chunkId)}?${query}`)).blob();
  },
  deleteSession: (id: string) => send('DELETE', `/api/sessions/${encodeURIComponent(id)}`),
  resetSession: (id: string) => send('POST', `/api/sessions/${encodeURIComponent(id)}/reset`, {}),

  /** Yields the events of a turn. Aborting also stops the turn on the server. */
  async *ask(request: AskRequest, signal: AbortSignal): AsyncGenerator<AskEvent> {
    const response = await send('POST', '/api/ask', request, signal);
    let rest = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield JSON.parse(line) as AskEvent;
    }
  },
};

async function getJson<T>(path: string): Promise<T> {
  return (await send('GET', path)).json() as Promise<T>;
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN_KEY);
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
  throw new HttpStatusError(
    response.status,
    error?.message ?? `The server responded with status ${response.status}.`,
  );
}
