import { Hono } from 'hono';
import * as z from 'zod';
import type { AgentSession } from '../../agent/agent.ts';
import { policySchema } from '../../domain/agent-config.ts';
import { sessionTotals } from '../../domain/conversation-session.ts';
import { filterSchema } from '../../domain/query.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { AppError } from '../../faults/app-error.ts';
import { toErrorResponse } from '../../faults/error-response.ts';
import { readFields, readJson } from '../http/read-request.ts';
import { RequestFault } from '../http/request-fault.ts';
import { streamResponse } from '../http/stream-response.ts';
import type { StartedTurn, WaitingEvent } from '../turns/turn-runner.ts';
import { type ApiOptions, loadSession, sessionIdSchema, takeSession } from './kept-session.ts';

/** The first event of an answer: which session it belongs to, for the next question. */
export interface SessionEvent {
  type: 'session';
  sessionId: string;
  collection: string;
  model: string;
  /** The number that the turn will have. */
  turnNumber: number;
}

/** What `POST /api/ask` sends. The last is `turn_completed` or `error`. */
export type ServedEvent = SessionEvent | WaitingEvent | RunEvent;

const askSchema = z.strictObject({
  question: z.string().trim().min(1, 'the question is blank'),
  sessionId: sessionIdSchema.optional(),
  collection: z.string().optional(),
  /** Whose session a new one is, or whose the given one must be. */
  user: z.string().trim().min(1).max(256).optional(),
  policy: policySchema.optional(),
  filter: filterSchema.optional(),
});
type AskRequest = z.infer<typeof askSchema>;

/** A session that is held for the turn to come. */
interface HeldSession {
  about: Omit<SessionEvent, 'type'>;
  /** As it stands when the turn begins. */
  open(): Promise<AgentSession>;
  release(): void;
}

/** Asks in a session that is kept: a new one, or one that goes on. */
export function askRoute(options: ApiOptions): Hono {
  const { collections, sessions, locks, turns, callers, model, maxBodyBytes } = options;
  const app = new Hono();

  app.post('/ask', async (context) => {
    const asked = readFields(askSchema, await readJson(context.req.raw, maxBodyBytes));
    const caller = callers.nameOf(context.req.raw);
    const request = caller === null ? asked : { ...asked, user: caller };
    const free = callers.takeTurn(context.req.raw);
    const held = await (request.sessionId === undefined
      ? newSession(request)
      : keptSession(request.sessionId, request, caller)
    ).catch((error: unknown) => {
      free();
      throw error;
    });
    try {
      const turn = await turns.start(
        (emit, signal) => ask(held, request, emit, signal),
        context.req.raw.signal,
      );
      turn.ended.finally(held.release).finally(free);
      return eventResponse(
        { type: 'session', ...held.about },
        turn,
        context.req.header('accept')?.includes('text/event-stream') === true,
      );
    } catch (error) {
      held.release();
      free();
      throw error;
    }
  });
  return app;

  async function newSession({ collection, user }: AskRequest): Promise<HeldSession> {
    const { agent, name } = await collections.open(collection);
    const session = await agent.startSession({ user, isInteractive: true });
    return {
      about: { sessionId: session.id, collection: name, model, turnNumber: 1 },
      open: async () => session,
      release: takeSession(locks, session.id),
    };
  }

  async function keptSession(
    sessionId: string,
    { collection: wanted, user }: AskRequest,
    caller: string | null,
  ): Promise<HeldSession> {
    const release = takeSession(locks, sessionId);
    try {
      const { session: kept, user: owner } = await loadSession(sessions, sessionId, caller);
      const { collection } = kept;
      if (user !== undefined && user !== owner) {
        throw new RequestFault(400, 'The session is of somebody else.', {
          code: 'other_user',
          param: 'user',
        });
      }
      if (wanted !== undefined && wanted !== collection) {
        throw new RequestFault(400, `The session is about the collection ${collection}.`, {
          code: 'other_collection',
          param: 'collection',
        });
      }
      const { agent } = await collections.open(collection);
      const turnNumber = sessionTotals(kept).turnCount + 1;
      return {
        about: { sessionId, collection, model, turnNumber },
        open: () => agent.resumeSession(sessionId),
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }
}

async function ask(
  held: HeldSession,
  { question, policy, filter }: AskRequest,
  emit: (event: RunEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const session = await held.open();
  const options = { signal, ...(policy && { policy }), ...(filter && { filter }) };
  for await (const event of session.ask(question, options)) emit(event);
}

/** The events of a turn as they happen: a JSON object a line, or server-sent events. */
function eventResponse(first: SessionEvent, turn: StartedTurn, asServerSent: boolean): Response {
  const piece = (event: ServedEvent) =>
    asServerSent ? `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n` : `${JSON.stringify(event)}\n`;
  async function* pieces() {
    yield piece(first);
    for await (const event of turn.events) yield piece(event);
  }
  return streamResponse(pieces(), {
    contentType: asServerSent ? 'text/event-stream' : 'application/x-ndjson',
    onFailure: (error) => piece({ type: 'error', error: toErrorResponse(failureOf(error)) }),
    onCancel: turn.abandon,
  });
}

function failureOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const sentence = 'Something went wrong that should not have.';
  return new AppError('api_error', sentence, { recoverable: true, cause: error });
}
