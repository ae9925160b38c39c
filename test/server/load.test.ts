import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import type { SessionSummary } from '../../src/ports/session-store.ts';
import type { ServedEvent } from '../../src/server/api/ask-route.ts';
import { runCli } from '../support/run-cli.ts';
import { homeWithDocuments } from './home-with-documents.ts';
import { INSPECTED, inspectorOf, settledHeap } from './settled-heap.ts';
import { startProgram } from './start-program.ts';

const STREAMS = 200;
const QUESTIONS = ['What is ROS 2?', 'What is a node?', 'What is a topic?', 'What is a launch file?'];
const headers = { 'content-type': 'application/json' };

function ask(url: string, number: number): Promise<Response> {
  const question = QUESTIONS[number % QUESTIONS.length] ?? '';
  const stream =
    number % 2 === 0
      ? { path: '/api/ask', body: { question } }
      : { path: '/v1/responses', body: { model: 'citeloop', input: question, stream: true } };
  return fetch(`${url}${stream.path}`, { method: 'POST', body: JSON.stringify(stream.body), headers });
}

test(`${STREAMS} concurrent streams complete without errors or leaked memory`, {
  timeout: 600_000,
}, async () => {
  const home = await homeWithDocuments();
  let inspector: Promise<string> | undefined;
  const { ready, stop } = await startProgram(['serve', '--grace', '300'], {
    home,
    env: INSPECTED,
    onStart: (child) => {
      inspector = inspectorOf(child);
    },
  });
  const heap = async () => settledHeap((await inspector) ?? '');
  const round = async (streams: number) => {
    const ended = Array.from({ length: streams }, async (_, number) => {
      const response = await ask(ready.url, number);
      const text = await response.text();
      return {
        status: response.status,
        completed: /"type":"(?:turn_completed|response\.completed)"/.test(text),
      };
    });
    for (const each of await Promise.all(ended)) expect(each).toEqual({ status: 200, completed: true });
  };
  await round(STREAMS / 4);
  const before = await heap();
  await round(STREAMS);
  // A leaked turn takes tens of kilobytes, an open connection a few.
  expect((await heap()) - before).toBeLessThan(STREAMS * 12_000);
  // There are as many places as cores, and all are free again.
  const next = await Promise.all(Array.from({ length: availableParallelism() }, () => ask(ready.url, 0)));
  for (const response of next) expect(await response.text()).not.toContain('"type":"waiting"');
  // A turn that still runs or waits would keep the server open for the grace period.
  const stoppedAt = performance.now();
  expect(await stop()).toMatchObject({ code: 0 });
  expect(performance.now() - stoppedAt).toBeLessThan(60_000);
});

test('loses no completed turn when killed under load', {
  timeout: 600_000,
}, async () => {
  const home = await homeWithDocuments();
  const { ready, child, ended } = await startProgram(['serve'], { home });
  const completed = new Map<string, string>();
  let alive = true;
  const clients = Array.from({ length: 12 }, async (_, client) => {
    for (let number = client * 2; alive; number += 2) {
      const response = await ask(ready.url, number * 2).catch(() => null);
      for (const event of await readUntilCut(response)) {
        if (event.type !== 'turn_completed') continue;
        completed.set(event.turn.response.sessionId, event.turn.response.answer);
        if (completed.size >= 25) child.kill('SIGKILL');
      }
    }
  });
  await ended;
  alive = false;
  await Promise.all(clients);
  expect(completed.size).toBeGreaterThanOrEqual(25);

  const listed = await runCli(['sessions', 'list', '--json', '--limit', '1000'], { home });
  const { sessions } = JSON.parse(listed.stdout) as { sessions: SessionSummary[] };
  const kept = new Set(sessions.filter(({ turnCount }) => turnCount === 1).map(({ sessionId }) => sessionId));
  expect([...completed.keys()].filter((id) => !kept.has(id))).toEqual([]);

  const again = await startProgram(['serve'], { home });
  const [sessionId, answer] = [...completed][0] ?? [];
  const session = await (await fetch(`${again.ready.url}/api/sessions/${sessionId}`)).json();
  expect(session).toMatchObject({ turns: [{ turn: { response: { answer } } }] });
});

/** The complete events before the connection was closed. */
async function readUntilCut(response: Response | null): Promise<ServedEvent[]> {
  let text = '';
  try {
    for await (const part of response?.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
  } catch {
    // The connection was closed.
  }
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}
