import { expect, test } from 'vitest';
import { renderTurn } from '../../../src/cli/terminal/render-turn.ts';
import { CLOSEST_PASSAGES_OPENING } from '../../../src/domain/abstention.ts';
import type { CheckedSentence } from '../../../src/domain/checked-sentence.ts';
import { createUnknownCitation } from '../../../src/domain/citation.ts';
import type { RunEvent } from '../../../src/domain/run-event.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import { toErrorResponse } from '../../../src/faults/error-response.ts';
import { citation } from '../../domain/arbitraries.ts';
import { fakeStreams, plain } from '../support/fake-streams.ts';
import { eventsOf, turnOf } from '../support/scripted-agent.ts';

async function* happening(events: readonly RunEvent[]): AsyncGenerator<RunEvent> {
  yield* events;
}

test('prints plain text, sources and usage in a pipe', async () => {
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
      'Supported by the source; about 80 % likely to answer your question.\n' +
      'offline · 312 tokens (300 in, 12 out) · 1 search · 1.2 s (search 4 ms, model 1.2 s)\n',
  );
  expect(err()).toBe('');
});

test('prints progress, wrapped text, links and coloured verdicts on a terminal', async () => {
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

test('prints the complete answer without streaming', async () => {
  const { streams, out } = fakeStreams('pipe');
  const turn = turnOf({ answer: 'The final answer [1].' });
  await renderTurn(happening(eventsOf(turn, ['a draft'])), streams, { stream: false });
  expect(out()).toMatch(/^The final answer \[1\]\.\n\n\[1\]/);
});

test.each([
  [true, 'A node flies [9].\n', 'removed from the saved answer\n'],
  [false, 'A node flies.\n', 'removed from the answer\n'],
])('reports a removed marker (streamed: %s)', async (stream, shown, said) => {
  const { streams, out } = fakeStreams('pipe');
  const turn = turnOf({ answer: 'A node flies.', citations: [createUnknownCitation('9')] });
  await renderTurn(happening(eventsOf(turn, ['A node flies [9].'])), streams, { stream });
  expect(out()).toContain(shown);
  expect(out()).toContain(`[9] unknown source: not among the retrieved passages; ${said}`);
});

test('shortens the closest passages on a terminal, and prints them whole in a pipe', async () => {
  const filler = 'A buoy rocks on the water. '.repeat(60).trim();
  const answer = `${CLOSEST_PASSAGES_OPENING}\n\n### Topics\n\nTopics in ROS 2 are named. ${filler} [1]\n\n### Services\n\nA service answers. [2]`;
  const turn = turnOf({ answer, outcome: 'passages', grounded: false });
  const pieces = answer.match(/.{1,30}/gs) ?? [];
  const shown = async (kind: 'pipe' | 'terminal', view: { stream: boolean; inChat?: boolean }) => {
    const { streams, out } = fakeStreams(kind, 80);
    await renderTurn(happening(eventsOf(turn, pieces)), streams, view);
    return plain(out());
  };
  for (const stream of [true, false]) {
    const onTerminal = await shown('terminal', { stream });
    expect(onTerminal).toContain('Topics in ROS 2 are named.');
    expect(onTerminal).toContain('A service answers. [2]');
    expect(onTerminal.split('\n').length).toBeLessThan(24);
    expect(onTerminal).toContain('\nShortened. Full passages: citeloop open 1\n');
  }
  expect(await shown('terminal', { stream: true, inChat: true })).toContain('Full passages: /source 1\n');
  const piped = await shown('pipe', { stream: true });
  expect(piped).toContain(filler);
  expect(piped).not.toContain('Shortened');
});

test('prints the status of an answer in one line', async () => {
  const cases = [
    [
      turnOf({
        answer: "I don't have information about it.",
        outcome: 'none',
        citations: [],
        grounded: false,
      }),
      '^The searched documents do not answer this\\.$',
    ],
    [turnOf({ outcome: 'passages', grounded: false }), '^No clear answer'],
    [
      turnOf({ citations: [citation({ verdict: 'unsupported' })], grounded: false }),
      '^Not grounded: no cited passage',
    ],
    [turnOf({ citations: [], grounded: false }), '^Not grounded: the answer cites none'],
    [turnOf({ answer: 'Hello!', citations: [], grounded: false }, []), '^Answered without searching'],
  ] as const;
  for (const [turn, reason] of cases) {
    const { streams, out } = fakeStreams('pipe');
    await renderTurn(happening(eventsOf(turn)), streams, { stream: true });
    expect(out()).toMatch(new RegExp(reason, 'm'));
  }
});

test('counts the uncited sentences of a grounded answer by a language model', async () => {
  const said = (text: string, verdict: 'supported' | null): CheckedSentence => ({
    start: 0,
    end: text.length,
    text,
    refs: [],
    verdict,
    probability: null,
    evidence: null,
    unsupportedSpans: [],
  });
  const sentences = [
    said('A topic is a bus.', 'supported'),
    said('See:', null),
    said('It has a roof.', null),
  ];
  const footerOf = async (model: string) => {
    const { streams, out } = fakeStreams('pipe');
    await renderTurn(happening(eventsOf(turnOf({ model, sentences }))), streams, { stream: true });
    return out();
  };
  expect(await footerOf('gpt-test')).toContain(
    'Supported by the source, except 1 of 2 sentences without a citation; about',
  );
  expect(await footerOf('offline')).toContain('Supported by the source; about');
});

test('removes escape sequences of models and documents', async () => {
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

test('throws an error event after ending the line', async () => {
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

test('prints text before a search as its own paragraph', async () => {
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

test('a retry is a progress line on a terminal and a note elsewhere', async () => {
  const failure = new AppError('rate_limit', 'Too many requests.', { retryAfter: 4 });
  const retry = { attempt: 1, waitMs: 4000, error: toErrorResponse(failure) };
  const notice: RunEvent = { type: 'notice', message: 'Too many requests. Trying again in 4 s (1).', retry };
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

test('prints other notices as lines on a terminal, too', async () => {
  const notice: RunEvent = { type: 'notice', message: 'The lease ends in 4 s.' };
  const { streams, err } = fakeStreams('terminal');
  await renderTurn(happening([notice, ...eventsOf(turnOf())]), streams, { stream: true });
  expect(plain(err())).toContain('Note: The lease ends in 4 s.\n');
});

const DOUBTFUL = {
  answer: 'A node of Heidelberg publishes\nmessages on a topic [1].',
  confidence: 'low' as const,
  sentences: [
    {
      start: 0,
      end: 55,
      text: 'A node of Heidelberg publishes messages on a topic.',
      refs: ['1'],
      verdict: 'weak' as const,
      probability: 0.61,
      evidence: { chunkId: 'c1', start: 0, end: 37, text: 'A node publishes messages on a topic.' },
      unsupportedSpans: [{ start: 10, end: 20 }],
    },
  ],
};

test('lists unsupported words in a pipe and underlines them on a terminal', async () => {
  const turn = turnOf(DOUBTFUL);
  const pipe = fakeStreams('pipe');
  await renderTurn(happening(eventsOf(turn)), pipe.streams, { stream: true });
  expect(pipe.out()).toContain('\nNot in any cited source: Heidelberg\n');
  const person = fakeStreams('terminal', 80);
  await renderTurn(happening(eventsOf(turn)), person.streams, { stream: true });
  expect(person.out()).toContain('A node of \x1b[4mHeidelberg\x1b[24m publishes messages on a topic [1].');
});

test('prints how likely the answer is correct and how it was checked', async () => {
  const shown = async (fields: Parameters<typeof turnOf>[0]) => {
    const { streams, out } = fakeStreams('pipe');
    await renderTurn(happening(eventsOf(turnOf(fields))), streams, { stream: true });
    return out();
  };
  const quoted = { citations: [citation({ verdict: 'quoted' })] };
  expect(await shown({ ...quoted, confidence: 'low', answerProbability: 0.62 })).toContain(
    '\nQuoted from the source; about 60 % likely to answer your question.\n',
  );
  expect(await shown({ confidence: 'high', answerProbability: 0.84 })).toContain(
    '\nSupported by the source; about 85 % likely to answer your question.\n',
  );
  expect(await shown({ ...quoted, checkedBy: 'words', answerProbability: null })).toContain(
    '\nQuoted from the source; checked by words only.\n',
  );
});

test('prints verdicts in green only for answers, not for closest passages', async () => {
  const shown = async (outcome: 'answer' | 'passages') => {
    const { streams, out } = fakeStreams('terminal');
    const turn = turnOf({
      outcome,
      grounded: outcome === 'answer',
      citations: [citation({ verdict: 'quoted' })],
    });
    await renderTurn(happening(eventsOf(turn)), streams, { stream: true });
    return out();
  };
  expect(await shown('answer')).toContain('\x1b[32mquoted\x1b[39m');
  expect(await shown('passages')).toContain('\x1b[2mquoted\x1b[22m');
});
