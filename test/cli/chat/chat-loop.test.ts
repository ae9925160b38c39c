import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { runChatLoop } from '../../../src/cli/chat/chat-loop.ts';
import { createChatConversation } from '../../../src/cli/chat/conversation.ts';
import { formatPlainAdvice } from '../../../src/faults/advice.ts';
import { AppError, messageOf } from '../../../src/faults/app-error.ts';
import { fakeStreams, plain } from '../support/fake-streams.ts';
import { eventsOf, type Script, scriptedAgent, turnOf } from '../support/scripted-agent.ts';

const echo: Script = (question) =>
  eventsOf(turnOf({ query: question, answer: `On ${question.replaceAll('\n', ' / ')} [1].` }));

interface Options {
  script?: Script;
  json?: boolean;
  columns?: number;
  model?: string;
  /** Questions asked before the chat starts. */
  earlier?: string[];
  /** Questions of past chats. */
  history?: string[];
}

async function startChat(
  kind: 'pipe' | 'terminal' | 'dumb',
  {
    script = echo,
    json = false,
    columns = 100,
    model = 'offline',
    earlier = [],
    history = ['an old question'],
  }: Options = {},
) {
  const io = fakeStreams(kind, columns);
  const agent = scriptedAgent(script, model);
  const controller = new AbortController();
  const session = await agent.open.agent.startSession();
  for (const question of earlier) await Array.fromAsync(session.ask(question));
  const models: string[] = [];
  const conversation = createChatConversation({
    open: agent.open,
    session,
    policy: 'tool',
    user: undefined,
    isInteractive: true,
    filter: {},
    collections: async () => ['handbook', 'animals'],
    models: async () => ['qwen3:8b', 'offline'],
    priceOf: (_, { prompt, completion }) => (prompt + completion * 8) / 1_000_000,
    async openWith({ model: name = 'offline', collection = 'handbook' }) {
      models.push(name);
      if (name === 'missing') throw new AppError('configuration_error', 'There is no key.');
      if (collection === 'nowhere') throw new AppError('invalid_input', 'There is no collection "nowhere".');
      return { ...agent.open, model: name, collection };
    },
  });
  const ended = runChatLoop({
    conversation,
    streams: io.streams,
    stream: true,
    json,
    signal: controller.signal,
    history: { history, onMessage: () => {} },
    report: (error) => {
      const hint = error instanceof AppError && error.advice ? formatPlainAdvice(error.advice) : '';
      io.streams.stderr.write(`failed: ${messageOf(error)} ${hint}\n`);
    },
  });
  const settled = ended.then(
    () => 'done',
    (error: AppError) => error.kind,
  );
  const seen = (text: string) => expect.poll(() => plain(io.out() + io.err())).toContain(text);
  /** Waits for the prompt. */
  const prompted = () => expect.poll(() => plain(io.out())).toMatch(/> $/);
  return {
    ...io,
    ...agent,
    models,
    conversation,
    controller,
    ended: settled,
    exitCode: ended,
    seen,
    prompted,
  };
}

async function piped(lines: string, options: Options = {}) {
  const chat = await startChat('pipe', options);
  chat.type(lines);
  chat.endInput();
  expect(await chat.ended).toBe('done');
  return { ...chat, out: chat.out(), err: chat.err(), exitCode: await chat.exitCode };
}

test('answers piped questions in blocks separated by a blank line', async () => {
  const { out, err, asked } = await piped('one?\n\n  \ntwo?\n');
  expect(asked.map(({ question }) => question)).toEqual(['one?', 'two?']);
  const blocks = out.split('\n\n');
  expect(blocks).toHaveLength(2);
  const [answer, source, verdict] = blocks[0]?.split('\n') ?? [];
  expect(answer).toBe('On one? [1].');
  expect(source).toMatch(/^\[1\] Topics.* {2}https:\S+$/);
  expect(verdict).toBe('1 citation, with evidence');
  expect(blocks[1]).toMatch(/^On two\? \[1\]\.\n/);
  expect(out + err).not.toContain('\x1b');
  expect(err).toBe('');
});

test('joins continued piped lines, and answers an unfinished one', async () => {
  const { asked } = await piped('one \\\ntwo\nthree \\');
  expect(asked.map(({ question }) => question)).toEqual(['one \ntwo', 'three']);
});

test('commands work in a pipe, and /quit ends it', async () => {
  const { out, asked } = await piped('/policy always\none?\n/why\nexit\ntwo?\n');
  expect(out).toMatch(/^Policy: always\n\nOn one\?/);
  expect(out).toContain('\n\nQuestion: one?\nStep 1  searched: topics in ROS 2');
  expect(asked).toMatchObject([{ question: 'one?', options: { policy: 'always' } }]);
});

test('reports a failed turn or command and continues', async () => {
  const script: Script = (question, options) =>
    question === 'bad?' ? [new AppError('api_error', 'The model broke.')] : echo(question, options);
  const { out, err } = await piped('bad?\n/souces\n/policy maybe\n/resume\n/model missing\ngood?\n', {
    script,
  });
  expect(err).toContain('failed: The model broke.');
  expect(err).toContain('failed: Unknown command /souces.');
  expect(err).toContain('failed: Unknown policy "maybe".');
  expect(err).toContain('failed: Usage: /resume <id>');
  expect(err).toContain('failed: There is no key.');
  expect(out).toContain('On good? [1].');
});

test.each([
  ['one?\n', 0],
  ['bad?\n', 5],
  ['bad?\none?\n', 5],
  ['/souces\nbad?\n', 2],
])('piped input %j exits with %i, the code of its first error', async (lines, code) => {
  const script: Script = (question, options) =>
    question === 'bad?' ? [new AppError('api_error', 'The model broke.')] : echo(question, options);
  expect((await piped(lines, { script })).exitCode).toBe(code);
  expect((await piped(lines, { script, json: true })).exitCode).toBe(code);
});

test('errors at a prompt leave the exit code 0', async () => {
  const chat = await startChat('terminal');
  await chat.prompted();
  chat.type('/souces\n');
  await chat.seen('Unknown command');
  await chat.prompted();
  chat.type('/quit\n');
  expect(await chat.exitCode).toBe(0);
});

test('--json prints one response or error per line', async () => {
  const script: Script = (question, options) =>
    question === 'bad?' ? [new AppError('api_error', 'The model broke.')] : echo(question, options);
  const { out } = await piped('one?\nbad?\n/policy\ntwo?\n', { script, json: true });
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { query: 'one?' },
    { error: { errorType: 'api_error', message: 'The model broke.' } },
    { query: 'two?' },
  ]);
});

test('commands about the last answer report that there is none', async () => {
  const { out } = await piped('/why\n/sessions\n/help\n/model\n');
  expect(out.match(/No answer yet\./g)).toHaveLength(1);
  expect(out).toMatch(/\/resume <id> +Continue another session/);
  expect(out).toContain('Model: offline\nOthers: qwen3:8b\n');
});

test('/model keeps a session that has turns', async () => {
  const { asked, models, out } = await piped('one?\n/model gpt-test\ntwo?\n');
  expect(models).toEqual(['gpt-test']);
  expect(out).toContain('Model: gpt-test');
  expect(asked[0]?.sessionId).toBe(asked[1]?.sessionId);
});

test('/resume takes the beginning of an id', async () => {
  const chat = await startChat('pipe');
  const other = await chat.open.agent.startSession();
  chat.type(`/resume ${other.id.slice(0, 13)}\none?\n/resume zzzz\n/sessions\n`);
  chat.endInput();
  expect(await chat.ended).toBe('done');
  expect(chat.asked[0]?.sessionId).toBe(other.id);
  expect(chat.err()).toContain('zzzz');
  expect(chat.out()).toContain(`Current session: ${other.id.slice(0, 8)}`);
  await chat.conversation.leave();
  const summaries = await chat.open.sessions.list();
  expect(summaries.map(({ status }) => status)).toEqual(['completed', 'completed']);
});

test('the first chat greets with the collection, the model and the quickest way to another one', async () => {
  const chat = await startChat('terminal', { history: [] });
  await chat.seen('> ');
  expect(plain(chat.out())).toMatch(
    /^citeloop on handbook, model offline\..*\nThe offline model quotes your documents/,
  );
  expect(plain(chat.out())).toContain('/help');
  expect(plain(chat.out())).toContain('/model qwen3:8b');
  expect(chat.out()).toContain('\x1b[?2004h');
  chat.type('\x04');
  expect(await chat.ended).toBe('done');
  expect(chat.out()).toContain('\x1b[?2004l');
});

test('later chats do not explain the offline model again', async () => {
  const chat = await startChat('terminal');
  await chat.seen('> ');
  expect(plain(chat.out())).not.toContain('quotes your documents');
  chat.type('\x04');
  await chat.ended;
});

test('/retry asks the last question again, also one that failed', async () => {
  let failures = 1;
  const script: Script = (question, options) => {
    failures -= 1;
    return failures >= 0 ? [new AppError('api_error', 'The model broke.')] : echo(question, options);
  };
  const { asked, out, err } = await piped('/retry\none?\n/retry\n', { script });
  expect(asked.map(({ question }) => question)).toEqual(['one?', 'one?']);
  expect(err).toContain('No question yet.');
  expect(out).toContain('On one? [1].');
});

test('/edit puts the last question into the prompt', async () => {
  const chat = await startChat('terminal');
  chat.type('one?\r');
  await chat.seen('On one? [1].');
  await chat.prompted();
  chat.type('/edit\r');
  await expect.poll(() => plain(chat.out())).toMatch(/> one\?$/);
  chat.type('\x7f and two?\r');
  await chat.seen('On one and two? [1].');
  chat.type('\x04');
  await chat.ended;
});

test('long output of a command is printed without a pager', async () => {
  const chat = await startChat('terminal', { columns: 30 });
  chat.streams.stdout.rows = 5;
  chat.type('/help\rone?\r');
  await chat.seen('Leave');
  await chat.seen('On one? [1].');
  chat.type('\x04');
  await chat.ended;
});

test('greets with the session that is continued', async () => {
  const chat = await startChat('terminal', { earlier: ['What is a node?', 'And a topic?'] });
  await chat.seen('> ');
  const greeting = plain(chat.out());
  expect(greeting).toContain(chat.conversation.session().id.slice(0, 8));
  expect(greeting).toContain('2 questions');
  expect(greeting).toContain('And a topic?');
  chat.type('\x04');
  await chat.ended;
});

test('Ctrl-C stops a turn; pressed again at the prompt it leaves', async () => {
  const script: Script = (question, options) => {
    if (question !== 'slow?') return echo(question, options);
    return [{ type: 'text_delta', delta: 'Half an ' }, { type: 'text_delta', delta: 'answer' }, 'wait'];
  };
  const chat = await startChat('terminal', { script, model: 'hosted' });
  chat.type('slow?\r');
  await chat.seen('Half');
  chat.type('\x03');
  await chat.seen('Stopped. The question was not saved.');
  expect(plain(chat.out())).toContain('Half an answer\n');
  chat.type('quick?\r');
  await chat.seen('On quick? [1].');
  expect(chat.asked[0]?.options.signal?.aborted).toBe(true);
  expect(chat.asked[1]?.sessionId).toBe(chat.asked[0]?.sessionId);
  await chat.prompted();
  chat.type('\x03');
  await chat.seen('Ctrl-C again');
  chat.type('\x03');
  expect(await chat.ended).toBe('done');
});

test('a second Ctrl-C leaves a turn that does not stop', async () => {
  const chat = await startChat('terminal');
  const { session } = chat.conversation;
  vi.spyOn(session(), 'ask').mockImplementation(async function* () {
    yield { type: 'phase', from: 'idle', to: 'generating' };
    await new Promise(() => {});
  });
  chat.type('stuck?\r');
  await chat.seen('writing');
  chat.type('\x03');
  await delay(20);
  chat.type('\x03');
  expect(await chat.ended).toBe('done');
});

test('a signal stops the turn and the chat', async () => {
  for (const kind of ['pipe', 'terminal'] as const) {
    const chat = await startChat(kind, {
      script: () => [{ type: 'notice', message: 'Half an answer.' }, 'wait'],
    });
    chat.type('slow?\n');
    await chat.seen('Half an answer.');
    chat.controller.abort(new AppError('interrupted', 'Stopped.'));
    expect(await chat.ended).toBe('interrupted');
  }
});

test('a signal at the prompt ends the chat', async () => {
  const chat = await startChat('terminal');
  await chat.seen('> ');
  chat.controller.abort(new AppError('interrupted', 'Stopped.'));
  expect(await chat.ended).toBe('interrupted');
});

test('pasted lines are one message', async () => {
  const chat = await startChat('terminal');
  chat.type('\x1b[200~one\ntwo\r\nthree\x1b[201~');
  await delay(60);
  expect(chat.asked).toEqual([]);
  chat.type(' and four\r');
  await chat.seen('On one / two / three and four [1].');
  expect(chat.asked).toHaveLength(1);
  await chat.prompted();
  chat.type('\x1b[A\r');
  await chat.seen('On one two three and four [1].');
  chat.type('\x04');
  expect(await chat.ended).toBe('done');
});

test('Ctrl-C at the prompt clears the line', async () => {
  const chat = await startChat('terminal');
  chat.type('begun \\\r');
  await chat.seen('… ');
  chat.type('half a question');
  chat.type('\x03');
  await chat.seen('^C');
  chat.type('whole?\r');
  await chat.seen('On whole? [1].');
  expect(chat.asked).toHaveLength(1);
  chat.type('\x04');
  await chat.ended;
});

test('text typed during an answer is kept for the next prompt', async () => {
  const { promise: release, resolve: finish } = Promise.withResolvers<void>();
  const chat = await startChat('terminal', { model: 'hosted' });
  vi.spyOn(chat.conversation.session(), 'ask').mockImplementationOnce(async function* () {
    yield { type: 'text_delta', delta: 'Working on it ' };
    await release;
    yield { type: 'turn_completed', turn: turnOf() };
  });
  chat.type('slow?\r');
  await chat.seen('Working');
  chat.type('typed ahead?\r');
  await delay(40);
  expect(plain(chat.out())).not.toContain('typed ahead?');
  finish();
  await chat.seen('> typed ahead?');
  await chat.seen('On typed ahead? [1].');
  chat.type('\x04');
  expect(await chat.ended).toBe('done');
});

test('Tab completes commands and collections', async () => {
  const chat = await startChat('terminal');
  // Input that arrives in one piece is treated as pasted, including tabs.
  chat.type('/collection anim');
  chat.type('\t');
  await chat.seen('animals');
  chat.type('\r');
  await chat.seen('New session on animals.');
  chat.type('\x04');
  await chat.ended;
});

test('Tab at an empty prompt shows the evidence of the last answer', async () => {
  const evidence = { chunkId: 'chunk-1', start: 0, end: 28, text: 'Nodes publish to its topics.' };
  const common = { start: 0, end: 17, text: 'A node publishes.', refs: ['1'], reason: null };
  const verdict = 'supported' as const;
  const part = { ...evidence, end: 5, text: 'Nodes' };
  const sentences = [
    { ...common, verdict, evidence: part },
    { ...common, verdict, evidence },
  ];
  const chat = await startChat('terminal', { script: () => eventsOf(turnOf({ sentences })) });
  chat.type('\t');
  chat.type('What is a topic?\r');
  await chat.seen('1 citation, with evidence · Tab shows it');
  await chat.prompted();
  expect(chat.out()).not.toContain('/source');
  chat.type('\t');
  await chat.seen('> /source');
  await chat.seen('    "Nodes publish to its topics."');
  expect(chat.out()).not.toContain('"Nodes"');
  expect(chat.asked).toHaveLength(1);
  chat.type('\x04');
  expect(await chat.ended).toBe('done');
});

test('the arrow keys recall earlier questions', async () => {
  const chat = await startChat('terminal');
  chat.type('\x1b[A\r');
  await chat.seen('On an old question [1].');
  chat.type('\x04');
  await chat.ended;
});

test('the collection and the filter can be changed, and the footer shows the cost', async () => {
  const script: Script = (question) => eventsOf(turnOf({ query: question, model: 'hosted' }));
  const { out, err, asked, conversation } = await piped(
    '/collection\none?\n/filter module=ros2\ntwo?\n/collection nowhere\n/collection animals\n/filter\n/filter nonsense\n',
    { script },
  );
  expect(out).toContain('Collection: handbook\nOthers: animals');
  expect(out).toContain('cost 0.000396');
  expect(out).toContain('Filter: module=ros2');
  expect(asked.map(({ options }) => options?.filter)).toEqual([{}, { module: ['ros2'] }]);
  expect(err).toContain('Unknown collection "nowhere".');
  expect(err).toContain('Collections: handbook, animals.');
  expect(out).toContain('New session on animals.');
  expect(out).toContain('Filter: off');
  expect(err).toContain('not of the form key=value');
  expect(conversation.collection()).toBe('animals');
});
