import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createPausingModel } from '../pausing-model.ts';
import { eventsOf, startAgentServer } from '../start-agent-server.ts';

test('frees the turn and session of a client that disconnects', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ chatModel: pausing.model, limits: { concurrent: 1, waiting: 0 } });
  const requests: [string, object][] = [
    ['/api/ask', { question: 'hi' }],
    ['/v1/responses', { model: 'citeloop', input: 'hi' }],
    ['/v1/responses', { model: 'citeloop', input: 'hi', stream: true }],
    [
      '/v1/chat/completions',
      { model: 'citeloop', messages: [{ role: 'user', content: 'hi' }], stream: true },
    ],
  ];
  for (const [index, [path, body]] of requests.entries()) {
    const client = new AbortController();
    const request = server.post(path, body, { signal: client.signal }).then((response) => response.text());
    await pausing.untilWaiting(1);
    expect((await server.post(path, body)).status).toBe(429);
    client.abort();
    await expect(request).rejects.toThrow();
    await pausing.untilAborted(index + 1);
  }
  const next = server.post('/api/ask', { question: 'hi' });
  await pausing.untilWaiting(1);
  pausing.goOn();
  expect((await eventsOf(await next)).at(-1)).toMatchObject({ type: 'turn_completed' });
  expect(await server.sessions.list()).toHaveLength(1);
});

test('frees the queue and session of a waiting client that disconnects', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ chatModel: pausing.model, limits: { concurrent: 1, waiting: 1 } });
  const made = server.post('/api/ask', { question: 'One?' });
  await pausing.untilWaiting(1);
  pausing.goOn();
  const [session] = await eventsOf(await made);
  const sessionId = session?.type === 'session' ? session.sessionId : '';

  const running = server.post('/api/ask', { question: 'Two?' });
  await pausing.untilWaiting(1);
  const client = new AbortController();
  const waiting = await server.post('/api/ask', { question: 'Three?', sessionId }, { signal: client.signal });
  const reader = waiting.body?.pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  while (!heard.includes('waiting')) heard += (await reader?.read())?.value ?? '';
  expect(heard).toContain('{"type":"waiting","ahead":0}');
  expect((await server.post('/api/ask', { question: 'Four?' })).status).toBe(429);
  client.abort();
  // The session is busy (409) until the server has noticed that the client is gone.
  let again = await server.post('/api/ask', { question: 'Five?', sessionId });
  while (again.status === 409) again = await server.post('/api/ask', { question: 'Five?', sessionId });
  pausing.goOn();
  await (await running).text();
  await pausing.untilWaiting(1);
  pausing.goOn();
  expect((await eventsOf(again)).at(-1)).toMatchObject({ type: 'turn_completed' });
});

test('returns 429 with Retry-After for a full queue in every API', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ chatModel: pausing.model, limits: { concurrent: 1, waiting: 0 } });
  const running = server.post('/api/ask', { question: 'One?' });
  await pausing.untilWaiting(1);
  const refused = await server.post('/v1/chat/completions', {
    model: 'citeloop',
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'queue_full' } });
  pausing.goOn();
  await (await running).text();
});

test('ends a turn with an error event after the timeout, and keeps the session', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ chatModel: pausing.model, limits: { turnMs: 1500 } });
  const events = await eventsOf(await server.post('/api/ask', { question: 'hi' }));
  expect(events.at(-1)).toMatchObject({
    type: 'error',
    error: { errorType: 'api_error', message: expect.stringContaining('took longer'), recoverable: true },
  });
  expect(await server.sessions.list()).toEqual([]);
});

test('finishes running turns and refuses new ones while stopping', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ chatModel: pausing.model });
  const running = server.post('/api/ask', { question: 'One?' });
  await pausing.untilWaiting(1);
  const drained = server.server.drain(10_000);
  expect((await server.get('/healthz')).status).toBe(503);
  const refused = await server.post('/api/ask', { question: 'Two?' });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('5');
  pausing.goOn();
  expect((await eventsOf(await running)).at(-1)).toMatchObject({ type: 'turn_completed' });
  await drained;
  expect(await server.sessions.list()).toHaveLength(1);
});

test('aborts turns that exceed the grace period in every API', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ chatModel: pausing.model });
  const asked = server.post('/api/ask', { question: 'One?' });
  const completed = server.post('/v1/responses', { model: 'citeloop', input: 'hi' });
  await pausing.untilWaiting(2);
  await server.server.drain(20);
  expect((await eventsOf(await asked)).at(-1)).toMatchObject({
    type: 'error',
    error: { errorType: 'interrupted', message: 'The server is stopping.' },
  });
  expect((await completed).status).toBe(503);
});

test('completes and stores the turn of a client that does not read', async () => {
  const server = await startAgentServer({ limits: { concurrent: 1, waiting: 0 } });
  const { port } = new URL(server.url);
  const body = JSON.stringify({ question: 'What is a zebra?' });
  const socket = connect(Number(port), '127.0.0.1');
  socket.pause();
  socket.write(
    `POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  while ((await server.sessions.list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(
    (await eventsOf(await server.post('/api/ask', { question: 'What is an owl?' }))).at(-1),
  ).toMatchObject({
    type: 'turn_completed',
  });
  socket.destroy();
});
