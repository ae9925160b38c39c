import { Hono } from 'hono';
import * as z from 'zod';
import { type CitationFates, citationFates, fateRecords } from '../../agent/stale-citations.ts';
import type { ConversationSession } from '../../domain/conversation-session.ts';
import { AppError } from '../../faults/app-error.ts';
import type { RecordedTurn } from '../../ports/session-store.ts';
import { readFields, readJson } from '../http/read-request.ts';
import { RequestFault } from '../http/request-fault.ts';
import { type ApiOptions, findSession, takeSession, unknownSession } from './kept-session.ts';

const DEFAULT_LIMIT = 50;
const listSchema = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(DEFAULT_LIMIT),
  user: z.string().optional(),
});

const feedbackSchema = z.strictObject({
  verdict: z.enum(['good', 'bad']),
  why: z.string().trim().max(2000).nullish(),
  /** The number of the turn, from 1; the last one when absent. */
  turnNumber: z.int().min(1).optional(),
});

/** Sessions that are kept: list, read, forget, start over, judge. */
export function sessionRoutes({ collections, sessions, locks, callers, maxBodyBytes }: ApiOptions): Hono {
  const app = new Hono();

  app.get('/', async (context) => {
    const { limit, user } = readFields(listSchema, context.req.query());
    // One more, to know whether there are more.
    const caller = callers.nameOf(context.req.raw);
    const found = await sessions.list({ user: caller ?? user, limit: limit + 1 });
    return context.json({ sessions: found.slice(0, limit), more: found.length > limit });
  });

  app.get('/:id', async (context) => {
    const session = await findSession(sessions, context.req.param('id'), callers.nameOf(context.req.raw));
    const turns = await Array.fromAsync(sessions.turns(session.sessionId));
    const fates = await fatesByTurn(session, turns);
    const { messages: _, ...about } = session;
    return context.json({
      session: about,
      turns: turns.map(({ turn, feedback }, index) => ({
        turn,
        feedback,
        // What became of cited passages since, by chunk id.
        ...fateRecords(fates[index] ?? new Map()),
      })),
    });
  });

  app.delete('/:id', async (context) => {
    const { sessionId } = await findSession(
      sessions,
      context.req.param('id'),
      callers.nameOf(context.req.raw),
    );
    const release = takeSession(locks, sessionId);
    try {
      if (!(await sessions.delete(sessionId))) throw unknownSession();
    } finally {
      release();
    }
    return context.body(null, 204);
  });

  app.post('/:id/reset', async (context) => {
    const { sessionId, collection } = await findSession(
      sessions,
      context.req.param('id'),
      callers.nameOf(context.req.raw),
    );
    const release = takeSession(locks, sessionId);
    try {
      const { agent } = await collections.open(collection);
      const session = await agent.resumeSession(sessionId);
      await session.reset();
      const { messages: _, ...about } = session.snapshot();
      return context.json({ session: about });
    } finally {
      release();
    }
  });

  app.post('/:id/feedback', async (context) => {
    const { sessionId } = await findSession(
      sessions,
      context.req.param('id'),
      callers.nameOf(context.req.raw),
    );
    const request = readFields(feedbackSchema, await readJson(context.req.raw, maxBodyBytes));
    const feedback = { verdict: request.verdict, why: request.why || null, at: new Date().toISOString() };
    if (!(await sessions.setFeedback(sessionId, request.turnNumber ?? 'last', feedback))) {
      throw new RequestFault(404, 'The session has no such turn.', {
        code: 'turn_not_found',
        param: 'turnNumber',
      });
    }
    return context.json({ feedback });
  });
  return app;

  /** Nothing is said about sources that cannot be looked at. */
  async function fatesByTurn(
    { collection }: ConversationSession,
    recorded: readonly RecordedTurn[],
  ): Promise<CitationFates[]> {
    try {
      const { store } = await collections.open(collection);
      return await citationFates(
        recorded.map(({ turn }) => turn),
        store,
      );
    } catch (error) {
      if (error instanceof AppError || error instanceof RequestFault) return [];
      throw error;
    }
  }
}
