import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AgentSession } from '../../agent/agent.ts';
import {
  type CitationChanges,
  findCitationChanges,
  toCitationChangeRecords,
} from '../../agent/citation-changes.ts';
import { AppError } from '../../faults/app-error.ts';
import type { RecordedTurn } from '../../ports/session-store.ts';
import { HttpError } from '../http/http-error.ts';
import { parseFields, readJsonBody } from '../http/parse-body.ts';
import { type ApiOptions, loadSession, lockSession } from './session-access.ts';

const listSchema = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  user: z.string().optional(),
});

const feedbackSchema = z.strictObject({
  verdict: z.enum(['good', 'bad']),
  why: z.string().trim().max(2000).nullish(),
  /** From 1 (default: the last turn). */
  turnNumber: z.int().min(1).optional(),
});

/** Lists, reads, deletes, resets and completes stored sessions, and records feedback. */
export function createSessionRoutes(options: ApiOptions): Hono {
  const { collections, sessions, callers, maxBodyBytes } = options;
  const app = new Hono();
  const load = async ({ req }: Context) =>
    (await loadSession(options, req.raw, req.param('id') ?? '')).session;

  app.get('/', async (context) => {
    const { limit, user } = parseFields(listSchema, context.req.query());
    const caller = callers.nameOf(context.req.raw);
    // One more than the limit shows whether there are more.
    const found = await sessions.list({ user: caller ?? user, limit: limit + 1 });
    return context.json({ sessions: found.slice(0, limit), more: found.length > limit });
  });

  app.get('/:id', async (context) => {
    const { messages: _, ...session } = await load(context);
    const turns = await Array.fromAsync(sessions.turns(session.sessionId));
    const changes = await findChanges(session.collection, turns);
    return context.json({
      session,
      turns: turns.map(({ turn, feedback }, index) => ({
        turn,
        feedback,
        ...toCitationChangeRecords(changes[index] ?? new Map()),
      })),
    });
  });

  app.delete('/:id', async (context) => {
    const { sessionId } = await load(context);
    const release = lockSession(options, context.req.raw, sessionId);
    await sessions.delete(sessionId).finally(release);
    return context.body(null, 204);
  });

  app.post('/:id/reset', (context) => changeSession(context, (session) => session.reset()));
  app.post('/:id/complete', (context) => changeSession(context, (session) => session.complete()));

  async function changeSession(context: Context, change: (session: AgentSession) => Promise<void>) {
    const { sessionId, collection } = await load(context);
    const release = lockSession(options, context.req.raw, sessionId);
    try {
      const { agent } = await collections.open(collection);
      const session = await agent.resumeSession(sessionId);
      await change(session);
      const { messages: _, ...snapshot } = session.snapshot();
      return context.json({ session: snapshot });
    } finally {
      release();
    }
  }

  app.post('/:id/feedback', async (context) => {
    const { sessionId } = await load(context);
    const request = parseFields(feedbackSchema, await readJsonBody(context.req.raw, maxBodyBytes));
    const feedback = { verdict: request.verdict, why: request.why || null, at: new Date().toISOString() };
    if (!(await sessions.setFeedback(sessionId, request.turnNumber ?? 'last', feedback))) {
      throw new HttpError(404, 'turn_not_found', 'The session has no such turn.', { param: 'turnNumber' });
    }
    return context.json({ feedback });
  });
  return app;

  /** The changes of the cited passages by turn; empty if the collection cannot be opened. */
  async function findChanges(
    collection: string,
    recorded: readonly RecordedTurn[],
  ): Promise<CitationChanges[]> {
    try {
      const { store } = await collections.open(collection);
      return await findCitationChanges(
        recorded.map(({ turn }) => turn),
        store,
      );
    } catch (error) {
      if (error instanceof AppError || error instanceof HttpError) return [];
      throw error;
    }
  }
}
