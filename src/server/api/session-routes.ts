import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AgentSession } from '../../agent/agent.ts';
import { parseFields } from '../http/parse-body.ts';
import { type ApiOptions, loadSession, lockSession } from './session-access.ts';

const listSchema = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  user: z.string().optional(),
});

/** Lists, reads, deletes, resets and completes stored sessions. */
export function createSessionRoutes(options: ApiOptions): Hono {
  const { collections, sessions, callers } = options;
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
    return context.json({ session, turns });
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

  return app;
}
