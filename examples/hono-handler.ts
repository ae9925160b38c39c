// POST {"question": "…"} to http://127.0.0.1:3000/ask and read server-sent events: npx node examples/hono-handler.ts
import { serve } from '@hono/node-server';
import { AppError, createAgent, toErrorResponse } from 'citeloop';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';

const agent = await createAgent({ collection: 'sample_book' });
const app = new Hono();

app.post('/ask', async (context) => {
  const { question, sessionId } = await context.req.json<{ question: string; sessionId?: string }>();
  const session = await (sessionId ? agent.resumeSession(sessionId) : agent.startSession());
  return streamSSE(context, async (stream) => {
    // The turn ends when the client goes away.
    const { signal } = context.req.raw;
    for await (const event of session.ask(question, { signal })) {
      if (event.type === 'text_delta') await stream.writeSSE({ event: 'text', data: event.delta });
      if (event.type === 'error') await stream.writeSSE({ event: 'error', data: event.error.userMessage });
      if (event.type === 'turn_completed') {
        const { citations, grounded } = event.turn.response;
        await stream.writeSSE({
          event: 'done',
          data: JSON.stringify({ sessionId: session.id, citations, grounded }),
        });
      }
    }
  });
});

app.onError((error, context) =>
  error instanceof AppError
    ? context.json(toErrorResponse(error), 400)
    : context.json({ message: 'internal error' }, 500),
);

const server = serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) },
  ({ port }) => console.log(`http://127.0.0.1:${port}/ask`),
);
process.on('SIGTERM', async () => {
  server.close();
  await agent.close();
});
