import { expect, test } from 'vitest';
import { createPausingModel } from '../pausing-model.ts';
import { jsonOf, startAgentServer } from '../start-agent-server.ts';

const TOKENS = [
  { name: 'ada', token: 'ada-0123456789abcdef', concurrent: 1 },
  { name: 'grace', token: 'grace-0123456789abcdef' },
];
const as = (name: string) => ({ headers: { authorization: `Bearer ${name}-0123456789abcdef` } });

test('restricts callers to their own sessions', async () => {
  const seen: (string | null)[] = [];
  const server = await startAgentServer({ tokens: TOKENS, onRequest: ({ caller }) => seen.push(caller) });
  expect((await server.get('/api/sessions')).status).toBe(401);
  expect((await server.get('/api/sessions', as('linus'))).status).toBe(401);
  // Whose session it is cannot be claimed.
  const answer = await server.post('/api/ask', { question: 'What is a zebra?', user: 'grace' }, as('ada'));
  const [first = ''] = (await answer.text()).split('\n');
  const { sessionId } = JSON.parse(first);
  const listed = async (name: string) =>
    (await jsonOf<{ sessions: { user: string }[] }>(server.get('/api/sessions?user=ada', as(name)))).sessions;
  expect(await listed('ada')).toMatchObject([{ user: 'ada' }]);
  expect(await listed('grace')).toEqual([]);
  expect((await server.get(`/api/sessions/${sessionId}`, as('ada'))).status).toBe(200);
  expect((await server.get(`/api/sessions/${sessionId}`, as('grace'))).status).toBe(404);
  const theirs = await server.post('/api/ask', { question: 'And now?', sessionId }, as('grace'));
  expect(theirs.status).toBe(404);
  expect(new Set(seen)).toEqual(new Set([null, 'ada', 'grace']));
});

test('limits the questions in progress per caller', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ tokens: TOKENS, chatModel: pausing.model });
  const running = await server.post('/api/ask', { question: 'Well?' }, as('ada'));
  const refused = await server.post('/api/ask', { question: 'Well?' }, as('ada'));
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain('caller_busy');
  const other = await server.post('/api/ask', { question: 'Well?' }, as('grace'));
  expect(other.status).toBe(200);
  await pausing.untilWaiting(2);
  pausing.goOn();
  await running.text();
  await other.text();
  const again = await server.post('/api/ask', { question: 'Well?' }, as('ada'));
  expect(again.status).toBe(200);
  await pausing.untilWaiting(1);
  pausing.goOn();
  await again.text();
});

test('a busy session is unknown to other callers', async () => {
  const pausing = createPausingModel();
  const server = await startAgentServer({ tokens: TOKENS, chatModel: pausing.model });
  const running = await server.post('/api/ask', { question: 'Well?' }, as('grace'));
  const reader = running.body?.pipeThrough(new TextDecoderStream()).getReader();
  const { sessionId } = JSON.parse((await reader?.read())?.value?.split('\n')[0] ?? '');
  await pausing.untilWaiting(1);
  const askAgain = (name: string) => server.post('/api/ask', { question: 'Well?', sessionId }, as(name));
  expect((await askAgain('ada')).status).toBe(404);
  expect((await askAgain('grace')).status).toBe(409);
  pausing.goOn();
  while (!(await reader?.read())?.done);
});
