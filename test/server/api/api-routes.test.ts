import { expect, test } from 'vitest';
import { conversationTurnSchema } from '../../../src/domain/conversation-turn.ts';
import { runEventSchema } from '../../../src/domain/run-event.ts';
import type { SessionEvent } from '../../../src/server/api/ask-route.ts';
import { createPausingModel } from '../pausing-model.ts';
import { BOOK, eventsOf, jsonOf, startAgentServer } from '../start-agent-server.ts';

interface KeptSession {
  session: Record<string, unknown>;
  turns: { turn: unknown }[];
}
type Server = Awaited<ReturnType<typeof startAgentServer>>;

async function ask(server: Server, body: object) {
  const response = await server.post('/api/ask', body);
  expect(response.status).toBe(200);
  const events = await eventsOf(response);
  const [first, ...rest] = events;
  const last = rest.at(-1);
  return {
    session: first as SessionEvent,
    events: rest,
    turn: last?.type === 'turn_completed' ? last.turn : null,
  };
}

test('streams the events of a question and stores its session', async () => {
  const server = await startAgentServer();
  const { session, events, turn } = await ask(server, { question: 'What is a zebra?' });
  expect(session).toMatchObject({ type: 'session', collection: 'animals', turnNumber: 1 });
  for (const event of events) runEventSchema.parse(event);
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set([
      'phase',
      'tool_call',
      'retrieval_started',
      'retrieval_finished',
      'text_delta',
      'citations',
      'turn_completed',
    ]),
  );
  expect(turn?.response.answer).toContain('A zebra is a striped horse. [1]');

  const next = await ask(server, { question: 'Where do they live?', sessionId: session.sessionId });
  expect(next.session).toMatchObject({ sessionId: session.sessionId, turnNumber: 2 });
  const kept = await jsonOf<KeptSession>(server.get(`/api/sessions/${session.sessionId}`));
  expect(kept).toMatchObject({ session: { turnCount: 2 }, turns: [{}, {}] });
  for (const { turn: recorded } of kept.turns) conversationTurnSchema.parse(recorded);
  const { sessions } = await jsonOf<{ sessions: unknown[] }>(server.get('/api/sessions'));
  expect(sessions).toMatchObject([{ sessionId: session.sessionId, title: 'What is a zebra?', turnCount: 2 }]);
});

test('sends only ingested files, as text', async () => {
  const server = await startAgentServer();
  const { turn } = await ask(server, { question: 'What is a zebra?' });
  const chunkId = turn?.response.citations[0]?.chunkId ?? '';
  const gone = await server.get(`/api/files/${chunkId}`);
  expect(gone.status).toBe(404);
  expect((await server.get('/api/files/..%2F..%2Fetc%2Fpasswd')).status).toBe(404);
});

test('sends server-sent events on request', async () => {
  const server = await startAgentServer();
  const response = await server.post(
    '/api/ask',
    { question: 'What is an owl?' },
    { headers: { accept: 'text/event-stream' } },
  );
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const text = await response.text();
  expect(text).toMatch(/^event: session\ndata: \{"type":"session"/);
  expect(text).toMatch(/event: turn_completed\ndata: \{.*\}\n\n$/);
});

test('streams text before the model has finished', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ chatModel: pausing.model });
  const response = await server.post('/api/ask', { question: 'Well?' });
  let text = '';
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.includes('Well,')) pausing.goOn();
  }
  expect(text).toContain('that is it.');
});

test('applies policy and filter to a turn', async () => {
  const server = await startAgentServer();
  const { events } = await ask(server, {
    question: 'What is a zebra?',
    filter: { module: ['plants'] },
    policy: 'always',
  });
  expect(events.find(({ type }) => type === 'retrieval_started')).toMatchObject({
    filter: { module: ['plants'] },
  });
  const never = await ask(server, { question: 'What is a zebra?', policy: 'never' });
  expect(never.turn?.response.retrievalCount).toBe(0);
});

test('binds a session to its user', async () => {
  const server = await startAgentServer();
  const { session } = await ask(server, { question: 'What is a zebra?', user: 'anna' });
  await ask(server, { question: 'What is an owl?' });
  const { sessions } = await jsonOf<{ sessions: unknown[] }>(server.get('/api/sessions?user=anna'));
  expect(sessions).toMatchObject([{ sessionId: session.sessionId, user: 'anna', isInteractive: true }]);
  const { sessionId } = session;
  await ask(server, { question: 'Where do they live?', sessionId, user: 'anna' });
  const other = await server.post('/api/ask', { question: 'And now?', sessionId, user: 'bert' });
  expect([other.status, await other.json()]).toMatchObject([400, { error: { param: 'user' } }]);
});

test('binds a session to its collection', async () => {
  const server = await startAgentServer({
    libraries: { animals: BOOK, tools: { 'shed/Hammers': 'A hammer is a tool that drives nails.' } },
  });
  const { session, turn } = await ask(server, { question: 'What is a hammer?', collection: 'tools' });
  expect(session.collection).toBe('tools');
  const chunkId = turn?.response.citations[0]?.chunkId ?? '';
  const { sessionId } = session;
  const other = await server.post('/api/ask', { question: 'And nails?', sessionId, collection: 'animals' });
  expect(other.status).toBe(400);
  expect((await server.get(`/api/sources/${chunkId}?collection=tools`)).status).toBe(200);
  expect((await server.get(`/api/sources/${chunkId}?collection=animals`)).status).toBe(404);
  const again = await ask(server, { question: 'What is a hammer?', sessionId });
  expect(again.session.collection).toBe('tools');
});

test('answers one question at a time per session, and several in parallel', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ chatModel: pausing.model });
  const first = await server.post('/api/ask', { question: 'One?' });
  const reader = first.body?.pipeThrough(new TextDecoderStream()).getReader();
  const { sessionId } = JSON.parse((await reader?.read())?.value?.split('\n')[0] ?? '');
  await pausing.untilWaiting(1);
  const busy = await server.post('/api/ask', { question: 'Two?', sessionId });
  expect(busy.status).toBe(409);
  expect(busy.headers.get('retry-after')).toBe('1');
  expect(await busy.json()).toMatchObject({ error: { code: 'session_busy' } });

  const elsewhere = server.post('/api/ask', { question: 'Three?' });
  await pausing.untilWaiting(2);
  pausing.goOn();
  await (await elsewhere).text();
  while (!(await reader?.read())?.done);
  const reset = await server.post(`/api/sessions/${sessionId}/reset`);
  expect(reset.status).toBe(200);
  const after = server.post('/api/ask', { question: 'Four?', sessionId });
  await pausing.untilWaiting(1);
  expect((await server.post(`/api/sessions/${sessionId}/reset`)).status).toBe(409);
  expect((await fetch(`${server.url}/api/sessions/${sessionId}`, { method: 'DELETE' })).status).toBe(409);
  pausing.goOn();
  expect((await eventsOf(await after)).at(-1)).toMatchObject({
    type: 'turn_completed',
    turn: { response: { turnNumber: 2 } },
  });
});

test('resets and deletes a session', async () => {
  const server = await startAgentServer();
  const { session } = await ask(server, { question: 'What is a zebra?' });
  const path = `/api/sessions/${session.sessionId}`;
  const reset = await jsonOf<KeptSession>(server.post(`${path}/reset`));
  expect(reset.session).toMatchObject({ turnCount: 0, segments: [{ turnCount: 1 }] });
  const kept = await jsonOf<KeptSession>(server.get(path));
  expect(kept.turns).toHaveLength(1);
  expect((await fetch(`${server.url}${path}`, { method: 'DELETE' })).status).toBe(204);
  expect((await server.get(path)).status).toBe(404);
});

test('completes a session, which a later question reopens', async () => {
  const server = await startAgentServer();
  const { session } = await ask(server, { question: 'What is a zebra?' });
  const path = `/api/sessions/${session.sessionId}`;
  const completed = await jsonOf<KeptSession>(server.post(`${path}/complete`));
  expect(completed.session).toMatchObject({ status: 'completed', turnCount: 1 });
  expect((await jsonOf<KeptSession>(server.get(path))).session).toMatchObject({ status: 'completed' });
  await ask(server, { question: 'And where?', sessionId: session.sessionId });
  expect((await jsonOf<KeptSession>(server.get(path))).session).toMatchObject({ status: 'active' });
});

test('returns a passage with its neighbours', async () => {
  const long = Array.from({ length: 40 }, (_, n) => `Fact ${n}: zebra number ${n} eats grass all day long.`);
  const server = await startAgentServer({ libraries: { animals: { 'animals/Zebras': long.join('\n\n') } } });
  const { turn } = await ask(server, { question: 'What does zebra number 20 eat?' });
  const chunkId = turn?.retrievals[0]?.chunks[0]?.chunkId ?? '';
  const source = await jsonOf<{ passages: { isCited: boolean }[] }>(
    server.get(`/api/sources/${chunkId}?before=1&after=1`),
  );
  expect(source).toMatchObject({ collection: 'animals', chunkId, title: 'Zebras', module: 'animals' });
  expect(source.passages.filter(({ isCited }) => isCited)).toMatchObject([{ chunkId }]);
  expect(source.passages.length).toBeLessThanOrEqual(3);
  expect((await server.get(`/api/sources/${chunkId}?before=99`)).status).toBe(400);
  expect((await server.get('/api/sources/nothing')).status).toBe(404);
});

test('describes the collections and the model', async () => {
  const server = await startAgentServer();
  expect(await (await server.get('/api/collections')).json()).toMatchObject({
    default: 'animals',
    collections: [
      { name: 'animals', documents: 3, error: null, modules: [{ name: 'animals' }, { name: 'plants' }] },
    ],
  });
  expect(await (await server.get('/api/about')).json()).toMatchObject({
    policy: 'tool',
    policies: ['tool', 'always', 'first', 'never'],
    collection: 'animals',
    token: false,
  });
});

test('refuses invalid requests', async () => {
  const server = await startAgentServer();
  const statusOf = async (body: unknown) => (await server.post('/api/ask', body)).status;
  expect(await statusOf({})).toBe(400);
  expect(await statusOf({ question: '  ' })).toBe(400);
  expect(await statusOf({ question: 'hi', sessionId: 'last' })).toBe(400);
  expect(await statusOf({ question: 'hi', sessionId: crypto.randomUUID() })).toBe(404);
  expect(await statusOf({ question: 'hi', collection: 'none' })).toBe(404);
  expect(await statusOf({ question: 'hi', policy: 'x' })).toBe(400);
  expect(await statusOf({ question: 'hi', surprise: 1 })).toBe(400);
  expect(await statusOf({ question: 'x'.repeat(200_000) })).toBe(413);
  expect((await server.get('/api/sessions?limit=0')).status).toBe(400);
  expect((await server.get('/api/sessions/not-an-id')).status).toBe(404);
  expect((await server.get('/api/nothing')).status).toBe(404);
});
