import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { printAnswer, readQuestion } from '../../../src/cli/commands/ask.ts';
import { agentResponseSchema } from '../../../src/domain/agent-response.ts';
import { type RunEvent, runEventSchema } from '../../../src/domain/run-event.ts';
import { createRedactor, type Redactor } from '../../../src/faults/redactor.ts';
import { fakeStreams } from '../support/fake-streams.ts';
import { eventsOf, type Script, scriptedAgent, turnOf } from '../support/scripted-agent.ts';

const ungrounded = turnOf({ answer: "I don't have information about it.", citations: [], grounded: false });
const failure: RunEvent = {
  type: 'error',
  error: {
    errorType: 'auth_error',
    message: 'The key was refused.',
    userMessage: 'The key is missing or was not accepted. Set OPENAI_API_KEY.',
    retryAfter: null,
    recoverable: false,
  },
};

async function ask(
  script: Script,
  flags: { json?: boolean; stream?: boolean; requireGrounded?: boolean; explain?: Redactor } = {},
) {
  const { streams, out, err } = fakeStreams('pipe');
  const session = await scriptedAgent(script).open.agent.startSession();
  const output = { json: false, stream: true, requireGrounded: false, ...flags };
  const events = session.ask('What is a topic?', {});
  const outcome = await printAnswer(events, output, streams).catch((error: unknown) => error);
  return { outcome, out: out(), err: err() };
}

test('an answer exits with 0 and has no escape sequences in a pipe', async () => {
  const { outcome, out, err } = await ask(() => eventsOf(turnOf()));
  expect(outcome).toBe(0);
  expect(out).toContain('A node publishes messages on a topic [1].\n');
  expect(out + err).not.toContain('\x1b');
});

test('--json prints one AgentResponse and nothing else', async () => {
  const { outcome, out, err } = await ask(() => eventsOf(turnOf()), { json: true, stream: false });
  expect({ outcome, err }).toEqual({ outcome: 0, err: '' });
  expect(out.trim().split('\n')).toHaveLength(1);
  expect(agentResponseSchema.parse(JSON.parse(out))).toEqual(turnOf().response);
});

test('--verbose prints the ledger of the turn on stderr without keys, and nothing more on stdout', async () => {
  const turn = turnOf();
  const quiet = await ask(() => eventsOf(turn), { json: true, stream: false });
  const explain = createRedactor({ secrets: ['What is a topic?'] });
  const { out, err } = await ask(() => eventsOf(turn), { json: true, stream: false, explain });
  expect(err).toContain('Question: [redacted]\n');
  expect(out).toBe(quiet.out);
  expect(err).toContain('Step 1  searched: topics in ROS 2  only module=basics\n');
  expect(err).toContain('Step 2  answered\n');
});

test('--json --stream prints every event as a line', async () => {
  const turn = turnOf();
  const { outcome, out } = await ask(() => eventsOf(turn), { json: true });
  expect(outcome).toBe(0);
  const lines = out.trim().split('\n');
  expect(lines.map((line) => runEventSchema.parse(JSON.parse(line)))).toEqual(eventsOf(turn));
});

test('--require-grounded exits with 6 after printing the answer', async () => {
  const output = await ask(() => eventsOf(ungrounded), { requireGrounded: true });
  expect(output.out).toContain("I don't have information");
  expect(output.outcome).toMatchObject({ kind: 'not_grounded' });
  const json = await ask(() => eventsOf(ungrounded), { requireGrounded: true, json: true, stream: false });
  expect(json.outcome).toBe(6);
  expect(JSON.parse(json.out)).toMatchObject({ grounded: false });
  const events = await ask(() => eventsOf(ungrounded), { requireGrounded: true, json: true });
  expect(events.outcome).toBe(6);
  expect((await ask(() => eventsOf(ungrounded))).outcome).toBe(0);
  expect((await ask(() => eventsOf(turnOf()), { requireGrounded: true })).outcome).toBe(0);
});

test('an error is thrown, and with --json --stream printed as an event', async () => {
  for (const flags of [{}, { json: true, stream: false }]) {
    const { outcome } = await ask(() => [failure], flags);
    expect(outcome).toMatchObject({ kind: 'auth_error', hint: 'Set OPENAI_API_KEY.' });
  }
  const { outcome, out } = await ask(() => [failure], { json: true });
  expect(outcome).toBe(3);
  expect(JSON.parse(out)).toEqual(failure);
});

test('reads the question from the arguments or from a pipe', async () => {
  const piped = () => Readable.from(['What is\n', 'a node?\n']);
  const typed = () => Object.assign(piped(), { isTTY: true as const });
  expect(await readQuestion({ question: ['What', 'is', 'ROS?'] }, piped())).toBe('What is ROS?');
  expect(await readQuestion({ question: [] }, piped())).toBe('What is\na node?');
  expect(await readQuestion({ question: ['-'] }, typed())).toBe('What is\na node?');
  for (const question of [[], [''], [' \t']]) {
    await expect(readQuestion({ question }, typed())).rejects.toMatchObject({ kind: 'invalid_input' });
  }
  await expect(readQuestion({ question: [''] }, piped())).rejects.toMatchObject({ kind: 'invalid_input' });
});
