import { expect, test } from 'vitest';
import { renderTurn } from '../../../src/cli/render-turn.ts';
import type { RunEvent } from '../../../src/domain/run-event.ts';
import { citation } from '../../domain/arbitraries.ts';
import { fakeStreams, plain } from './fake-streams.ts';
import { eventsOf, turnOf } from './scripted-agent.ts';

async function* happening(events: readonly RunEvent[]): AsyncGenerator<RunEvent> {
  yield* events;
}

test('an answer in a pipe is plain text with its sources and one line of facts', async () => {
  const { streams, out, err } = fakeStreams('pipe');
  const turn = turnOf({ citations: [citation({ url: 'file:///docs/ro%20s/topics.md' })] });
  await renderTurn(
    happening(eventsOf(turn, ['\n\nA node publishes ', 'messages on a topic [1].\n\n'])),
    streams,
    {
      stream: true,
    },
  );
  expect(out()).toBe(
    'A node publishes messages on a topic [1].\n\n' +
      '[1] Topics › Publishing  0.80 supported  /docs/ro s/topics.md\n' +
      'offline · 312 tokens (300 in, 12 out) · 1 search · 1.2 s (search 4 ms, model 1.2 s)\n',
  );
  expect(err()).toBe('');
});

test('a terminal gets the phase while it waits, then wrapped text, links and coloured verdicts', async () => {
  const { streams, out, err } = fakeStreams('terminal', 40);
  const turn = turnOf({ citations: [citation(), citation({ marker: '2', verdict: 'weak' })] });
  await renderTurn(happening(eventsOf(turn, [...turn.response.answer])), streams, { stream: true });
  expect(plain(err())).toContain('searching: topics in ROS 2');
  expect(plain(err())).toContain('writing');
  expect(err()).toMatch(/\r\x1b\[2K$/);
  expect(plain(out())).toContain(
    'A node publishes messages on a topic\n[1].\n\n[1] Topics › Publishing  0.80 supported\n    https',
  );
  expect(out()).toContain('\x1b]8;;https://docs.test/topics\x1b\\');
  expect(out()).toContain('\x1b[32msupported');
  expect(out()).toContain('\x1b[33mweak');
});

test('without streaming the answer comes when it is complete', async () => {
  const { streams, out } = fakeStreams('pipe');
  const turn = turnOf({ answer: 'The final answer [1].' });
  await renderTurn(happening(eventsOf(turn, ['a draft'])), streams, { stream: false });
  expect(out()).toMatch(/^The final answer \[1\]\.\n\n\[1\]/);
});

test('an answer that is not grounded says so and why', async () => {
  const cases = [
    [
      turnOf({ answer: "I don't have information about it.", citations: [], grounded: false }),
      'nothing in the documents',
    ],
    [
      turnOf({ citations: [citation({ verdict: 'unsupported' })], grounded: false }),
      'no passage that is cited',
    ],
    [turnOf({ citations: [], grounded: false }), 'cites nothing'],
    [turnOf({ answer: 'Hello!', citations: [], grounded: false }, []), 'without a search'],
  ] as const;
  for (const [turn, reason] of cases) {
    const { streams, out } = fakeStreams('pipe');
    await renderTurn(happening(eventsOf(turn)), streams, { stream: true });
    expect(out()).toMatch(new RegExp(`^Not grounded: .*${reason}`, 'm'));
  }
});

test('nothing that a model or a document says moves the cursor or changes the terminal', async () => {
  const evil = '\x1b]0;owned\x07\x1b[2J\x1b[31mred\u009b31m\u202e';
  for (const stream of [true, false]) {
    const { streams, out, err } = fakeStreams('pipe');
    const turn = turnOf({
      answer: `Text ${evil}`,
      model: `m${evil}`,
      citations: [
        citation({ title: `Title\n${evil}`, url: `https://docs.test/${evil}`, marker: `1${evil}` }),
      ],
    });
    const events = [
      { type: 'notice' as const, message: `Note ${evil}` },
      ...eventsOf(turn, [...`Text ${evil}`]),
    ];
    await renderTurn(happening(events), streams, { stream });
    expect(out()).toContain('Text red');
    expect(out() + err()).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  }
});

test('an error becomes a failure of its kind with its hint, and no line is left open', async () => {
  const { streams, out } = fakeStreams('pipe');
  const error = {
    errorType: 'rate_limit',
    message: 'Too many requests.',
    userMessage: 'The service is receiving too many requests. Try again in 7 seconds.',
    retryAfter: 7,
    recoverable: true,
  } as const;
  const events: RunEvent[] = [
    { type: 'text_delta', delta: 'Half an' },
    { type: 'error', error },
  ];
  await expect(renderTurn(happening(events), streams, { stream: true })).rejects.toMatchObject({
    kind: 'rate_limit',
    message: 'Too many requests.',
    hint: 'Try again in 7 seconds.',
    retryAfter: 7,
  });
  expect(out()).toBe('Half an\n');
});

test('what is said before a search stands on its own, and the answer follows', async () => {
  const { streams, out } = fakeStreams('terminal');
  const before: RunEvent[] = [
    { type: 'phase', from: 'idle', to: 'generating' },
    { type: 'text_delta', delta: 'Let me look that up.' },
  ];
  await renderTurn(happening([...before, ...eventsOf(turnOf())]), streams, { stream: true });
  expect(plain(out())).toMatch(
    /^Let me look that up\.\n\nA node publishes messages on a topic \[1\]\.\n\n\[1\]/,
  );
});

test('a retry is counted down on a terminal and is a line elsewhere', async () => {
  const notice: RunEvent = { type: 'notice', message: 'Too many requests. Trying again in 4 s (1).' };
  const terminal = fakeStreams('terminal');
  await renderTurn(happening([notice, ...eventsOf(turnOf())]), terminal.streams, { stream: true });
  expect(plain(terminal.err())).toContain('Trying again in 4 s (1).');
  expect(terminal.err()).not.toContain('\n');
  for (const kind of ['pipe', 'dumb'] as const) {
    const { streams, err } = fakeStreams(kind);
    await renderTurn(happening([notice, ...eventsOf(turnOf())]), streams, { stream: true });
    expect(err()).toBe('Note: Too many requests. Trying again in 4 s (1).\n');
  }
});
