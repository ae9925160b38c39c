import { Hono } from 'hono';
import * as z from 'zod';
import type { AgentSession } from '../../agent/agent.ts';
import { policySchema } from '../../domain/agent-config.ts';
import { sessionTotals } from '../../domain/conversation-session.ts';
import { filterSchema } from '../../domain/filter.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { readJson } from '../http/read-json.ts';
import { readFields } from '../wire/read-fields.ts';
import { RequestFault } from '../wire/request-fault.ts';
import type { ApiOptions } from './api-options.ts';
import { eventResponse, type SessionEvent } from './event-response.ts';
import { findSession, sessionIdSchema } from './find-session.ts';

const askSchema = z.strictObject({
  question: z.string().trim().min(1, 'the question is blank'),
  sessionId: sessionIdSchema.optional(),
  collection: z.string().optional(),
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
export function askRoute({ collections, sessions, locks, turns, model, maxBodyBytes }: ApiOptions): Hono {
  const app = new Hono();

  app.post('/ask', async (context) => {
    const request = readFields(askSchema, await readJson(context.req.raw, maxBodyBytes));
    const held = await (request.sessionId === undefined
      ? newSession(request)
      : keptSession(request.sessionId, request));
    try {
      const turn = await turns.start((signal) => ask(held, request, signal), context.req.raw.signal);
      turn.ended.finally(held.release);
      return eventResponse(
        { type: 'session', ...held.about },
        turn,
        context.req.header('accept')?.includes('text/event-stream') === true,
      );
    } catch (error) {
      held.release();
      throw error;
    }
  });
  return app;

  async function newSession({ collection }: AskRequest): Promise<HeldSession> {
    const { agent, name } = await collections.open(collection);
    const session = await agent.startSession();
    return {
      about: { sessionId: session.id, collection: name, model, turnNumber: 1 },
      open: async () => session,
      release: locks.take(session.id),
    };
  }

  async function keptSession(sessionId: string, { collection: wanted }: AskRequest): Promise<HeldSession> {
    const release = locks.take(sessionId);
    try {
      const kept = await findSession(sessions, sessionId);
      const { collection } = kept;
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

async function* ask(
  held: HeldSession,
  { question, policy, filter }: AskRequest,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  const session = await held.open();
  yield* session.ask(question, { signal, ...(policy && { policy }), ...(filter && { filter }) });
}
