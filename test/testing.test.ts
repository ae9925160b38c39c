import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import { assistantMessage, functionCall, modelError, ScriptedModel } from '@openai/agents/testing';
import { createAgent } from 'citeloop';
import { recordTape, type TapeRun, useTape } from 'citeloop/testing';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTemporaryDirectory } from './support/temporary-directory.ts';
import { jsonExchange, postJson, writeTape } from './tape/support/sample-tape.ts';

const native = globalThis.fetch;

test('useTape answers requests from a tape until the test is over', async () => {
  const tape = await useTape(await writeTape([jsonExchange(1, { q: 'a' }, { a: 1 })]));
  expect(await (await postJson({ q: 'a' })).json()).toEqual({ a: 1 });
  expect(tape.header.origin).toBe('recorded');
  expect(tape.counts()).toEqual({ used: 1, repeated: 0, missed: 0 });
});

test('the network is restored after the test', () => {
  expect(globalThis.fetch).toBe(native);
});

test('stop throws a miss that the code under test caught', async () => {
  const tape = await useTape(await writeTape([jsonExchange(1, { q: 'a' }, { a: 1 })]));
  await postJson({ q: 'b' }).catch(() => 'swallowed');
  expect(tape.misses()).toHaveLength(1);
  await expect(tape.stop()).rejects.toMatchObject({ kind: 'replay_drift' });
});

test('the runtime gives the same ids and time in every replay', async () => {
  const path = await writeTape([]);
  const take = async () => {
    await using tape = await useTape(path);
    const { runtime } = tape;
    return [runtime.newId(), runtime.newId(), runtime.now().toISOString(), runtime.elapsedMs()];
  };
  const first = await take();
  expect(await take()).toEqual(first);
  expect(first[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(first[0]).not.toBe(first[1]);
});

const NOW = 'https://clock.test/now';
const now = http.get(NOW, () => HttpResponse.json({ now: 12 }));
const broken = http.get('https://broken.test/', () => HttpResponse.error());

/** An msw server of the user, without handlers for the requests on the tape. */
function startUserServer(onUnhandledFrame: 'error' | 'bypass' = 'error') {
  const server = setupServer(now, broken);
  server.listen({ onUnhandledFrame });
  onTestFinished(() => server.close());
}

async function expectBothAnswer(): Promise<void> {
  expect(await (await postJson({ q: 'a' })).json()).toEqual({ a: 1 });
  expect(await (await fetch(NOW)).json()).toEqual({ now: 12 });
  await expect(fetch('https://broken.test/')).rejects.toThrow(TypeError);
  await expect(fetch('https://unknown.test/')).rejects.toMatchObject({ kind: 'replay_drift' });
}

test("the user's msw server answers beside a tape, whether it was started before or after", async () => {
  // The server was started after the tape and restores the wrapper of the tape, which passes every call through.
  onTestFinished(() => void Object.assign(globalThis, { fetch: native }));
  const path = await writeTape([jsonExchange(1, { q: 'a' }, { a: 1 })]);
  const tape = await useTape(path);
  startUserServer();
  await expectBothAnswer();
  expect(tape.misses()).toHaveLength(1);
  await expect(tape.stop()).rejects.toMatchObject({ kind: 'replay_drift' });
  expect(await (await fetch(NOW)).json()).toEqual({ now: 12 });

  const second = await useTape(path);
  await expectBothAnswer();
  expect(second.misses()).toHaveLength(1);
  await expect(second.stop()).rejects.toMatchObject({ kind: 'replay_drift' });
  expect(await (await fetch(NOW)).json()).toEqual({ now: 12 });
});

test("requests that the user's msw server bypasses do not leave the process, and it answers other clients than fetch", async () => {
  startUserServer('bypass');
  const tape = await useTape(await writeTape([jsonExchange(1, { q: 'a' }, { a: 1 })]));
  await expectBothAnswer();
  const status = await new Promise((resolve, reject) => {
    https.get(NOW, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
  expect(status).toBe(200);
  const refused = new Promise((resolve) =>
    https.get('https://127.0.0.1:1/', () => resolve(null)).on('error', resolve),
  );
  expect(await refused).toBeInstanceOf(Error);
  expect(tape.misses().length).toBeGreaterThan(0);
  await expect(tape.stop()).rejects.toMatchObject({ kind: 'replay_drift' });
});

test('an agent with the runtime of a tape needs no key and no server', async () => {
  const { settings, runtime, sessions } = await useTape('fixtures/tapes/served-chat-qdrant.tape.json');
  const agent = await createAgent({ ...settings, baseUrl: 'https://api.groq.com/v1', runtime, sessions });
  const { answer, citations } = await agent.ask('What is ROS 2?');
  expect(answer).toContain('ROS 2');
  expect(citations.length).toBeGreaterThan(0);
  await agent.close();
  const reranking = {
    rerank: 'cohere' as const,
    rerankModel: 'rerank-v3.5',
    cohereBaseUrl: 'https://api.cohere.com',
  };
  await (await createAgent({ ...settings, ...reranking, store: 'qdrant', runtime, sessions })).close();
});

/** Asks one question with a model object. */
async function askAboutOwls(run: TapeRun, model: ScriptedModel) {
  const agent = await createAgent({
    ...run.settings,
    runtime: run.runtime,
    sessions: run.sessions,
    model: run.model(model),
    modelName: 'scripted',
    retriever: async () => ['An owl hunts at night.'],
  });
  const { answer, citations, sessionId, timestamp } = await agent.ask('When do owls hunt?');
  await agent.close();
  return { answer, markers: citations.map(({ marker, verdict }) => [marker, verdict]), sessionId, timestamp };
}

const ANSWER = [
  [functionCall('search_docs', { query: 'owls' }, { callId: 'c1' })],
  [assistantMessage('An owl hunts at night [1].')],
];

test('recordTape records the calls of a model object, and a replay does not call it', async () => {
  const path = join(await createTemporaryDirectory(), 'owls.tape.json');
  const settings = { temperature: 0.7 };
  const recorded = await recordTape(path, (run) => askAboutOwls(run, new ScriptedModel(ANSWER)), {
    settings,
  });
  expect(recorded).toMatchObject({ answer: 'An owl hunts at night [1].', markers: [['1', 'quoted']] });
  expect(globalThis.fetch).toBe(native);

  const tape = await useTape(path);
  expect(tape.header).toMatchObject({ origin: 'recorded', command: null });
  expect(tape.settings).toMatchObject({ temperature: 0.7 });
  const unused = new ScriptedModel([]);
  const { timestamp: _, ...first } = recorded;
  expect(await askAboutOwls(tape, unused)).toMatchObject(first);
  expect(unused.calls).toEqual([]);
  expect(tape.counts()).toEqual({ used: 2, repeated: 0, missed: 0 });
});

test('a replay of a model object fails for a request that was not recorded', async () => {
  const path = join(await createTemporaryDirectory(), 'owls.tape.json');
  await recordTape(path, (run) => askAboutOwls(run, new ScriptedModel(ANSWER)));
  const tape = await useTape(path);
  const asked = askAboutOwls({ ...tape, settings: { systemPrompt: 'Be brief.' } }, new ScriptedModel(ANSWER));
  await expect(asked).rejects.toMatchObject({ kind: 'replay_drift' });
  await expect(tape.stop()).rejects.toMatchObject({ kind: 'replay_drift' });
});

test('a recorded error of a model object is replayed, and a failed recording leaves the tape', async () => {
  const path = join(await createTemporaryDirectory(), 'owls.tape.json');
  const refused = Object.assign(new Error('No such model.'), { status: 404 });
  const failing = () => new ScriptedModel([modelError(refused)]);
  const ask = (run: TapeRun) => askAboutOwls(run, failing()).catch((error: { kind: string }) => error.kind);
  const kind = await recordTape(path, ask);
  expect(kind).toBe('configuration_error');
  {
    await using tape = await useTape(path);
    expect(await ask(tape)).toBe(kind);
  }
  const before = await readFile(path, 'utf8');
  await expect(
    recordTape(path, async () => {
      throw new Error('broken');
    }),
  ).rejects.toThrow('broken');
  expect(await readFile(path, 'utf8')).toBe(before);
  await expect(
    recordTape(path, async () => {}, { settings: { modle: 'm' } as object }),
  ).rejects.toMatchObject({
    kind: 'invalid_input',
    hint: 'Did you mean model?',
  });
});

afterAll(() => expect(globalThis.fetch).toBe(native));
