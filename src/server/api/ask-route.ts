import { Hono } from 'hono';
import * as z from 'zod';
import { policySchema } from '../../domain/agent-config.ts';
import { sessionTotals } from '../../domain/conversation-session.ts';
import { filterSchema } from '../../domain/query.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { AppError } from '../../faults/app-error.ts';
import { toErrorResponse } from '../../faults/error-response.ts';
import { HttpError, INTERNAL_ERROR_MESSAGE } from '../http/http-error.ts';
import { parseFields, readJsonBody } from '../http/parse-body.ts';
import { streamResponse } from '../http/stream-response.ts';
import type { StartedTurn, WaitingEvent } from '../turns/turn-runner.ts';
import { type ApiOptions, loadSession, lockSession, sessionIdSchema } from './session-access.ts';

/** The first event of an answer. A follow-up question sends its `sessionId`. */
export interface SessionEvent {
  type: 'session';
  sessionId: string;
  collection: string;
  model: string;
  /** The number of the turn that starts, from 1. */
  turnNumber: number;
}

/** The events that `POST /api/ask` sends. The last one is `turn_completed` or `error`. */
export type ServedEvent = SessionEvent | WaitingEvent | RunEvent;

const askSchema = z.strictObject({
  question: z.string().trim().min(1, 'the question is blank'),
  sessionId: sessionIdSchema.optional(),
  collection: z.string().optional(),
  /** The owner of a new session; must be the owner of a given one. */
  user: z.string().trim().min(1).max(256).optional(),
  policy: policySchema.optional(),
  filter: filterSchema.optional(),
});
type WantedSession = Pick<z.infer<typeof askSchema>, 'collection' | 'user'>;

/** Answers a question in a new or an existing session. */
export function createAskRoute(options: ApiOptions): Hono {
  const { collections, turns, callers, model, maxBodyBytes } = options;
  const app = new Hono();

  app.post('/ask', async (context) => {
    const { raw } = context.req;
    const body = parseFields(askSchema, await readJsonBody(raw, maxBodyBytes));
    const { question, policy, filter, ...wanted } = { ...body, user: callers.nameOf(raw) ?? body.user };
    const held = [callers.takeTurn(raw)];
    const release = () => {
      for (const releaseOne of held) releaseOne();
    };
    try {
      const { description, open } = await (wanted.sessionId === undefined
        ? startSession(raw, wanted, held)
        : findSession(raw, wanted.sessionId, wanted, held));
      const turn = await turns.start(async (emit, signal) => {
        const session = await open();
        const askOptions = { signal, ...(policy && { policy }), ...(filter && { filter }) };
        for await (const event of session.ask(question, askOptions)) emit(event);
      }, raw.signal);
      turn.ended.finally(release);
      const asServerSentEvents = context.req.header('accept')?.includes('text/event-stream') === true;
      return toEventResponse({ type: 'session', ...description }, turn, asServerSentEvents);
    } catch (error) {
      release();
      throw error;
    }
  });
  return app;

  // Both lock the session and add its release to `held`. `open` opens it in its state when the turn starts.
  async function startSession(request: Request, { collection, user }: WantedSession, held: (() => void)[]) {
    const { agent, name } = await collections.open(collection);
    const session = await agent.startSession({ user, isInteractive: true });
    held.push(lockSession(options, request, session.id));
    const description = { sessionId: session.id, collection: name, model, turnNumber: 1 };
    return { description, open: async () => session };
  }

  async function findSession(
    request: Request,
    sessionId: string,
    { collection: wanted, user }: WantedSession,
    held: (() => void)[],
  ) {
    held.push(lockSession(options, request, sessionId));
    const { session, user: owner } = await loadSession(options, request, sessionId);
    const { collection } = session;
    if (user !== undefined && user !== owner) {
      throw new HttpError(400, 'other_user', 'The session belongs to another user.', { param: 'user' });
    }
    if (wanted !== undefined && wanted !== collection) {
      throw new HttpError(400, 'other_collection', `The session uses the collection ${collection}.`, {
        param: 'collection',
      });
    }
    const { agent } = await collections.open(collection);
    const turnNumber = sessionTotals(session).turnCount + 1;
    const description = { sessionId, collection, model, turnNumber };
    return { description, open: () => agent.resumeSession(sessionId) };
  }
}

/** Streams the events of a turn as JSON lines or as server-sent events. */
function toEventResponse(first: SessionEvent, turn: StartedTurn, asServerSentEvents: boolean): Response {
  const format = (event: ServedEvent) =>
    asServerSentEvents
      ? `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
      : `${JSON.stringify(event)}\n`;
  async function* pieces() {
    yield format(first);
    for await (const event of turn.events) yield format(event);
  }
  return streamResponse(pieces(), {
    contentType: asServerSentEvents ? 'text/event-stream' : 'application/x-ndjson',
    onFailure: (error) => format({ type: 'error', error: toErrorResponse(toAppError(error)) }),
    onCancel: turn.abandon,
  });
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError('api_error', INTERNAL_ERROR_MESSAGE, { recoverable: true, cause: error });
}
