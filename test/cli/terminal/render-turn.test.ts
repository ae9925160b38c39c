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

test('prints plain text and sources in a pipe', async () => {
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
      '[1] Topics › Publishing  /docs/ro s/topics.md\n' +
      '1 citation, with evidence\n',
  );
  expect(err()).toBe('');
});

test('prints progress, wrapped text, links and coloured verdicts on a terminal', async () => {
  const { streams, out, err } = fakeStreams('terminal', 40);
  const turn = turnOf({ citations: [citation(), citation({ marker: '2', verdict: 'unsupported' })] });
  await renderTurn(happening(eventsOf(turn, [...turn.response.answer])), streams, { stream: true });
  expect(plain(err())).toContain('searching: topics in ROS 2');
  expect(plain(err())).toContain('writing');
  expect(err()).toMatch(/\r\x1b\[2K$/);
  expect(plain(out())).toContain(
    'A node publishes messages on a topic\n[1].\n\n[1] Topics › Publishing\n    https',
  );
  expect(out()).toContain('\x1b]8;;https://docs.test/topics\x1b\\');
  expect(out()).toContain('\x1b[33munsupported');
});

test('prints the complete answer without streaming', async () => {
  const { streams, out } = fakeStreams('pipe');
  const turn = turnOf({ answer: 'The final answer [1].' });
  await renderTurn(happening(eventsOf(turn, ['a draft'])), streams, { stream: false });
  expect(out()).toMatch(/^The final answer \[1\]\.\n\n\[1\]/);
});

test('counts removed markers of unknown sources, and lists only known ones', async () => {
  const { streams, out } = fakeStreams('pipe');
  const turn = turnOf({ citations: [citation(), createUnknownCitation('9')] });
  await renderTurn(happening(eventsOf(turn)), streams, { stream: true });
  expect(out()).toContain('\n1 citation, with evidence; 1 unknown source removed\n');
  expect(out()).not.toContain('[9]');
});

test('prints tokens and time of a hosted model, and all about them with verbose', async () => {
  const footerOf = async (fields: Parameters<typeof turnOf>[0], verbose: boolean) => {
    const { streams, out } = fakeStreams('pipe');
    await renderTurn(happening(eventsOf(turnOf(fields))), streams, { stream: true, verbose });
    return out().trimEnd().split('\n').at(-1);
  };
  expect(await footerOf({ model: 'gpt-test' }, false)).toBe(
    '1 citation, with evidence · gpt-test · 312 tokens · 1.2 s',
  );
  expect(await footerOf({}, true)).toBe(
    '1 citation, with evidence · offline · 312 tokens (300 in, 12 out) · 1 retrieval · 1.2 s (search 4 ms, model 1.2 s)',
  );
});

test('shows a marker once per paragraph', async () => {
  const answer = 'A is so. [1] B is so. [1]\n\nRun: [1]\n\n```sh\nmake\n```';
  const wanted = 'A is so. B is so. [1]\n\nRun: [1]\n\nmake\n\n[1] Topics';
  for (const stream of [true, false]) {
    const { streams, out } = fakeStreams('terminal');
    await renderTurn(happening(eventsOf(turnOf({ answer }), [...answer])), streams, { stream });
    const shown = out().split('\x1b[J').at(-1) ?? '';
    expect(plain(shown).startsWith(wanted)).toBe(true);
  }
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
  const onTerminal = await shown('terminal', { stream: false });
  expect(onTerminal).toContain('Topics in ROS 2 are named.');
  expect(onTerminal).toContain('A service answers. [2]');
  expect(onTerminal.split('\n').length).toBeLessThan(24);
  expect(onTerminal).toContain('\nShortened; citeloop open <n> shows it all\n');
  expect(await shown('terminal', { stream: false, inChat: true })).toContain(
    'Shortened; /source <n> shows it all\n',
  );
  const piped = await shown('pipe', { stream: true });
  expect(piped).toContain(filler);
  expect(piped).not.toContain('Shortened');
});

test('prints the status of an answer in one line', async () => {
  const cases = [
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

test('counts the citations of an answer that begins with what is missing', async () => {
  const { streams, out } = fakeStreams('pipe');
  const turn = turnOf({
    answer: "I don't have information about X. Y is Z [1].",
    outcome: 'none',
    grounded: false,
  });
  await renderTurn(happening(eventsOf(turn)), streams, { stream: true });
  expect(out()).toMatch(/^1 citation, with evidence$/m);
});

test('says once that nothing was found', async () => {
  const { streams, out } = fakeStreams('pipe');
  const answer = "I don't have information about it.";
  const turn = turnOf({ answer, outcome: 'none', citations: [], grounded: false });
  await renderTurn(happening(eventsOf(turn)), streams, { stream: true });
  expect(out()).toBe(`${answer}\n`);
});

test('counts the uncited sentences of a grounded answer by a language model', async () => {
  const said = (text: string, verdict: 'supported' | null): CheckedSentence => ({
    start: 0,
    end: text.length,
    text,
    refs: [],
    verdict,
    reason: null,
    evidence: null,
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
    '1 citation, with evidence; 1 of 2 sentences cite nothing · gpt-test',
  );
  expect(await footerOf('offline')).toContain('\n1 citation, with evidence\n');
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
  const { streams, out } = fakeStreams('dumb');
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

test('an answer whose stream failed begins again as its own paragraph', async () => {
  const broken: RunEvent[] = [{ type: 'text_delta', delta: 'Half an' }, { type: 'text_discarded' }];
  const { streams, out } = fakeStreams('terminal');
  await renderTurn(happening([...broken, ...eventsOf(turnOf())]), streams, { stream: true });
  expect(plain(out())).toMatch(/^Half an\n\nA node publishes messages on a topic \[1\]\.\n\n\[1\]/);
  const piped = fakeStreams('pipe');
  await renderTurn(happening([...broken, ...eventsOf(turnOf())]), piped.streams, { stream: true });
  expect(piped.out()).toMatch(/^A node publishes messages on a topic \[1\]\.\n/);
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
      verdict: 'unsupported' as const,
      reason: { kind: 'name' as const, text: '"Heidelberg" is not in [1]' },
      evidence: { chunkId: 'c1', start: 0, end: 37, text: 'A node publishes messages on a topic.' },
    },
  ],
};

test('prints each flagged sentence with its reason below the answer', async () => {
  const pipe = fakeStreams('pipe');
  await renderTurn(happening(eventsOf(turnOf(DOUBTFUL))), pipe.streams, { stream: true });
  expect(pipe.out()).toContain(
    '⚠ "A node of Heidelberg publishes messages on a topic."\n    "Heidelberg" is not in [1]\n',
  );
});

test('marks a flagged sentence where it stands', async () => {
  const terminal = fakeStreams('terminal', 40);
  await renderTurn(happening(eventsOf(turnOf(DOUBTFUL))), terminal.streams, { stream: true });
  const [before, after] = terminal.out().split('\x1b[2A\x1b[J');
  expect(plain(before ?? '')).toMatch(/^A node of Heidelberg publishes\s+messages on a topic \[1\]\.\n$/);
  expect(plain(after ?? '')).toMatch(/^A node of Heidelberg publishes\s+messages on a topic \[1\]\. ⚠\n/);

  const pipe = fakeStreams('pipe');
  await renderTurn(happening(eventsOf(turnOf(DOUBTFUL))), pipe.streams, { stream: false });
  expect(pipe.out()).toContain('messages on a topic [1]. ⚠\n');
});

test('does not print an answer again that has left the screen, or that a note follows', async () => {
  const long = fakeStreams('terminal', 40);
  const filler = 'A buoy rocks on the water.\n\n'.repeat(30);
  const answer = `${DOUBTFUL.answer}\n\n${filler}`;
  const turn = turnOf({ ...DOUBTFUL, answer });
  await renderTurn(happening(eventsOf(turn)), long.streams, { stream: true });
  const noted = fakeStreams('terminal', 40);
  const events = eventsOf(turnOf(DOUBTFUL));
  const note: RunEvent = { type: 'notice', message: 'A note.' };
  await renderTurn(happening([...events.slice(0, -1), note, ...events.slice(-1)]), noted.streams, {
    stream: true,
  });
  for (const { out } of [long, noted]) {
    expect(out()).not.toContain('\x1b[J');
    expect(plain(out())).toContain('"Heidelberg" is not in [1]');
  }
});

test('prints one line about the check', async () => {
  const shown = async (fields: Parameters<typeof turnOf>[0]) => {
    const { streams, out } = fakeStreams('pipe');
    await renderTurn(happening(eventsOf(turnOf(fields))), streams, { stream: true });
    return out();
  };
  expect(await shown({})).toContain('\n1 citation, with evidence\n');
  expect(await shown({ checkedBy: 'off' })).toContain('\n1 citation, not checked\n');
  expect(await shown(DOUBTFUL)).toContain('\n1 citation, 1 sentence without support\n');
});
