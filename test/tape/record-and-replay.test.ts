import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { bypass } from 'msw';
import { Agent, request as undiciRequest } from 'undici';
import { expect, test } from 'vitest';
import { readTape } from '../../src/tape/read-tape.ts';
import { startTapeRecording } from '../../src/tape/record-run.ts';
import { type ReplayTapeOptions, startTapeReplay } from '../../src/tape/replay-tape.ts';
import type { TapeExchange, TapeJson } from '../../src/tape/tape-format.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';
import { sampleHeader } from './support/sample-tape.ts';
import { startWireServer } from './support/wire-server.ts';

/** Records `work` and returns the path and the exchanges of the tape. */
async function recorded(work: () => Promise<unknown>): Promise<{ path: string; exchanges: TapeExchange[] }> {
  const path = join(await createTemporaryDirectory(), 'run.tape.json');
  const recording = startTapeRecording({ path, header: sampleHeader(), secrets: [] });
  await work();
  await recording.close({ done: true });
  return { path, exchanges: [...readTape(path).exchanges] };
}

/** Runs `work` with requests answered from a tape. */
async function replayed<T>(
  path: string,
  work: () => Promise<T>,
  options: Partial<ReplayTapeOptions> = {},
): Promise<T> {
  const replaying = await startTapeReplay({ path, ...options });
  try {
    return await work();
  } finally {
    await replaying.stop();
  }
}

const errorFields = (error: unknown) => ({
  name: (error as Error).name,
  code: ((error as Error).cause as { code?: string } | undefined)?.code,
});

test('replays a stream chunk by chunk', async () => {
  const { url } = await startWireServer();
  const read = async () => {
    const texts: string[] = [];
    const decoder = new TextDecoder();
    const { body } = await fetch(`${url}/events`, { method: 'POST', body: '{}' });
    for await (const bytes of body ?? []) texts.push(decoder.decode(bytes, { stream: true }));
    return texts.join('');
  };
  let live = '';
  const { path, exchanges } = await recorded(async () => {
    live = await read();
  });

  const chunks = exchanges[0]?.response?.chunks ?? [];
  expect(chunks.map(({ data }) => data)).toEqual([
    'data: {"text":"one"}\n\n',
    'data: {"text":"gr',
    'ün"}\n\n',
    'data: [DONE]\n\n',
  ]);
  expect(chunks.slice(1).every(({ delayMs }) => delayMs > 5)).toBe(true);
  expect(live).toContain('grün');
  expect(await replayed(path, read)).toBe(live);
});

test('replays compressed, binary and empty responses as the program saw them', async () => {
  const { url } = await startWireServer();
  const read = async () => [
    await (await fetch(`${url}/compressed`)).json(),
    [...(await (await fetch(`${url}/bytes`)).bytes())],
    await fetch(`${url}/empty`).then(async (response) => [
      response.status,
      await response.text(),
      response.url,
    ]),
  ];
  let live: unknown;
  const { path } = await recorded(async () => {
    live = await read();
  });
  expect(await replayed(path, read)).toEqual(live);
});

test('numbers requests in the order in which they were made', async () => {
  const { url } = await startWireServer();
  const { exchanges } = await recorded(async () => {
    await Promise.all([fetch(`${url}/slow`).then((r) => r.text()), fetch(`${url}/a`).then((r) => r.text())]);
    await (await fetch(`${url}/b`)).text();
  });
  expect(exchanges.map(({ id, request }) => [id, new URL(request.url).pathname])).toEqual([
    [1, '/slow'],
    [2, '/a'],
    [3, '/b'],
  ]);
});

test('replays errors and retries in order, without cookies', async () => {
  const { url } = await startWireServer();
  const ask = () => fetch(`${url}/busy`, { method: 'POST', body: '{"q":1}' });
  const { path, exchanges } = await recorded(async () => {
    await (await ask()).text();
    await (await ask()).text();
  });
  expect(exchanges[0]?.response).toMatchObject({ status: 429, headers: { 'retry-after': '0' } });
  expect(JSON.stringify(exchanges)).not.toContain('session=1');

  await replayed(path, async () => {
    expect((await ask()).status).toBe(429);
    expect((await ask()).status).toBe(200);
    // More often than recorded: the last answer again.
    expect((await ask()).status).toBe(200);
  });
});

test('replays a refused connection and a broken stream with the same errors', async () => {
  const { url } = await startWireServer();
  const refused = () => fetch('http://127.0.0.1:4/none').catch(errorFields);
  const broken = async () => {
    const response = await fetch(`${url}/cut`);
    let text = '';
    try {
      for await (const bytes of response.body ?? []) text += Buffer.from(bytes).toString();
    } catch (error) {
      return { text, fault: errorFields(error) };
    }
    return { text };
  };
  let live: unknown[] = [];
  const { path } = await recorded(async () => {
    live = [await refused(), await broken()];
  });
  expect(live).toMatchObject([{ code: 'ECONNREFUSED' }, { text: 'data: {"text":"half"}\n\n', fault: {} }]);
  expect(await replayed(path, async () => [await refused(), await broken()])).toEqual(live);
});

test('replays a timeout', async () => {
  const { url } = await startWireServer();
  const give = () => fetch(`${url}/slow`, { signal: AbortSignal.timeout(20) }).catch(errorFields);
  const { path, exchanges } = await recorded(give);
  expect(exchanges[0]?.failure).toMatchObject({ name: 'TimeoutError' });
  expect(await replayed(path, give)).toMatchObject({ name: 'TimeoutError' });
});

test("uses the caller's dispatcher when recording, but not when replaying", async () => {
  const { url } = await startWireServer();
  let dispatched = 0;
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    dispatched += 1;
    return dispatch(options, handler);
  });
  const ask = async () => (await fetch(`${url}/x`, { dispatcher } as object)).json();
  const { path, exchanges } = await recorded(ask);
  expect([dispatched, exchanges.length]).toEqual([1, 1]);
  await replayed(path, ask);
  expect(dispatched).toBe(1);
});

test('records and sends a streamed request body', async () => {
  const { url } = await startWireServer();
  const send = async () => {
    const request = new Request(`${url}/x`, {
      method: 'POST',
      body: new Blob(['{"streamed":true}']).stream(),
      duplex: 'half',
    } as RequestInit);
    return (await fetch(request)).json();
  };
  let live: unknown;
  const { path, exchanges } = await recorded(async () => {
    live = await send();
  });
  expect(exchanges[0]?.request.body).toEqual({ json: { streamed: true } });
  expect(live).toMatchObject({ echo: '{"streamed":true}' });
  expect(await replayed(path, send)).toEqual(live);
});

test('no request leaves the process during a replay, whichever client sends it', async () => {
  const { url, requests } = await startWireServer();
  const { path } = await recorded(async () => (await fetch(`${url}/x`)).text());
  const before = requests();
  const nativeFetch = globalThis.fetch;
  await replayed(path, async () => {
    await expect(fetch(`${url}/y`)).rejects.toMatchObject({ kind: 'replay_drift' });
    const byHttp = await new Promise((resolve) => {
      httpRequest(`${url}/x`, (response) => resolve(response.resume().statusCode))
        .on('error', resolve)
        .end();
    });
    expect(byHttp).toMatchObject({ kind: 'replay_drift' });
    await expect(undiciRequest(`${url}/x`)).rejects.toMatchObject({ kind: 'replay_drift' });
    await expect(nativeFetch(`${url}/x`)).rejects.toThrow();
    await expect(fetch(bypass(`${url}/x`))).rejects.toThrow(TypeError);
  });
  expect(requests()).toBe(before);
  expect((await fetch(`${url}/y`)).status).toBe(200);
});

test('a miss names the nearest request, its differences and the likely reason', async () => {
  const { url } = await startWireServer();
  const ask = (model: string) =>
    fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model, messages: [] }) });
  const { path } = await recorded(async () => (await ask('small')).text());
  const error = await replayed(path, () => ask('large').catch((thrown: unknown) => thrown));
  expect(error).toMatchObject({
    kind: 'replay_drift',
    recoverable: false,
    message: `The tape ${path} has no answer to this request: POST /v1/chat/completions.`,
    hint: expect.stringMatching(/exchange 1.*model: "small" -> "large".*the model changed/s),
  });
});

test('passthrough sends missing requests and leaves the tape unchanged', async () => {
  const { url, requests } = await startWireServer();
  const ask = async (n: number) => (await fetch(`${url}/x`, { method: 'POST', body: `{"n":${n}}` })).json();
  const { path } = await recorded(() => ask(1));
  await replayed(path, async () => [await ask(1), await ask(2)], { onMiss: 'passthrough' });
  expect(requests()).toBe(2);
  expect(readTape(path).exchanges).toHaveLength(1);
});

test('record updates only the changed exchanges', async () => {
  const { url, requests } = await startWireServer();
  const ask = async (n: number) => (await fetch(`${url}/x`, { method: 'POST', body: `{"n":${n}}` })).json();
  const { path } = await recorded(async () => [await ask(1), await ask(2)]);
  const replaying = await startTapeReplay({ path, onMiss: 'record' });
  const answers = [await ask(1), await ask(3)] as TapeJson[];
  expect(await replaying.stop({ answers })).toEqual({ renewed: true });

  expect(requests()).toBe(3);
  const renewed = readTape(path);
  expect(renewed).toMatchObject({ complete: true, edited: false, outputs: { answers } });
  expect(renewed.exchanges.map(({ request }) => request.body)).toEqual([
    { json: { n: 1 } },
    { json: { n: 3 } },
  ]);
  await replayed(path, async () => expect([await ask(1), await ask(3)]).toEqual(answers));
});

test('record leaves a tape without misses unchanged', async () => {
  const { url } = await startWireServer();
  const ask = async () => (await fetch(`${url}/x`)).text();
  const { path } = await recorded(ask);
  const replaying = await startTapeReplay({ path, onMiss: 'record' });
  await ask();
  expect(await replaying.stop({})).toEqual({ renewed: false });
  expect(readTape(path).outputs).toEqual({ done: true });
});

test('recorded timing waits as long as the service did', async () => {
  const { url } = await startWireServer();
  const ask = async () => (await fetch(`${url}/slow`)).text();
  const { path } = await recorded(ask);
  const waited: number[] = [];
  for (const timing of ['none', 'recorded'] as const) {
    const started = performance.now();
    await replayed(path, ask, { timing });
    waited.push(performance.now() - started);
  }
  expect(waited[1]).toBeGreaterThan(70);
});

test('rejects a second replay at the same time', async () => {
  const { path } = await recorded(async () => {});
  await replayed(path, () =>
    expect(startTapeReplay({ path })).rejects.toMatchObject({ kind: 'invalid_input' }),
  );
});
