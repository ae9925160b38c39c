import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentResponse, agentResponseSchema } from '../../src/domain/agent-response.ts';
import { copyHomeWithBook } from '../support/prepared-home.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { ensureTinyLlama } from '../support/tiny-llama.ts';
import { expectHeldToGrammar } from './held-to-grammar.ts';

/*
 * A real model of a billion parameters through the loop. What grammars and the loop guarantee is asserted; what depends on
 * how much the model understands is counted, and reported at the end.
 */

const CUT = 5;
/** A small model goes on for as long as it may, and says nothing new. */
const MOST_TOKENS = '80';
const home = mkdtempSync(join(tmpdir(), 'citeloop-model-'));
const FIXTURES = join(import.meta.dirname, '../../fixtures');
const threads = process.env.CITELOOP_THREADS;
const env: Record<string, string> = threads === undefined ? {} : { CITELOOP_THREADS: threads };
const report: { what: string; right: number; of: number }[] = [];
const written = { steps: 0, calls: 0, citations: 0 };
let model = '';
let tapes = 0;

beforeAll(async () => {
  model = await ensureTinyLlama();
  await copyHomeWithBook(home);
});

afterAll(() => {
  rmSync(home, { recursive: true, force: true });
  process.stdout.write(
    `${[
      'TinyLlama 1.1B got right:',
      ...report.map(({ what, right, of }) => `  ${right} of ${of}  ${what}`),
      `${written.steps} steps, all by their grammar: ${written.calls} calls, ${written.citations} citations`,
    ].join('\n')}\n`,
  );
});

function note(what: string, ...right: boolean[]): void {
  report.push({ what, right: right.filter(Boolean).length, of: right.length });
}

/** Runs it on a tape, and holds what is on the tape against the grammars. */
async function run(args: string[], input = ''): Promise<AgentResponse[]> {
  tapes += 1;
  const tape = join(home, `${tapes}.tape.json`);
  const all = [...args, '--json', '--model', model, '--record', tape, '--max-tokens', MOST_TOKENS];
  const { stdout, stderr, code } = await runInProcess(all, { home, env, input });
  // That it was cut is told by the exit code.
  expect([0, CUT], stderr).toContain(code);
  const held = await expectHeldToGrammar(tape);
  for (const key of ['steps', 'calls', 'citations'] as const) written[key] += held[key];
  const responses = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => agentResponseSchema.parse(JSON.parse(line)));
  for (const { citations } of responses) {
    expect(citations.map(({ verdict }) => verdict)).not.toContain('unknown_source');
  }
  return responses;
}

const ask = async (question: string, ...flags: string[]) =>
  (await run(['ask', question, ...flags]))[0] as AgentResponse;
const chat = (lines: string[], ...flags: string[]) => run(['chat', ...flags], `${lines.join('\n')}\n`);

const isFrom = (module: string, { grounded, citations }: AgentResponse) =>
  grounded && citations.every((citation) => citation.module === module);

for (const policy of ['tool', 'always', 'first']) {
  test(`a single question is answered and cited from its module, policy ${policy}`, async () => {
    const response = await ask('What is ROS 2?', '--policy', policy);
    expect(response.model).toBe(basename(model));
    expect(response.tokensUsed.completion).toBeGreaterThan(0);
    if (policy !== 'tool') expect(response.retrievalCount).toBeGreaterThan(0);
    note(`a single question, policy ${policy}: grounded in its module`, isFrom('ros2', response));
    note(`a single question, policy ${policy}: says what it is`, /open-source|robot/i.test(response.answer));
  });
}

test('what is not in the documents is not claimed to be grounded', async () => {
  const response = await ask("What's the weather today?");
  note('the weather: no grounded answer', !response.grounded);
  note('the weather: says that it has no information', response.outcome === 'none');
});

test('in a second turn "it" is what the first was about', async () => {
  const [first, second] = await chat(
    ['What is Isaac Sim?', 'How do I use it for synthetic data?'],
    '--policy',
    'always',
  );
  expect(second).toMatchObject({ turnNumber: 2, sessionId: first?.sessionId });
  note('a follow-up: its sources are of the module', second !== undefined && isFrom('isaac', second));
  note('a follow-up: names Replicator', second?.answer.includes('Replicator') === true);
});

test('after some turns and a reset the session goes on', async () => {
  const questions = [
    'What is a node?',
    'What is a topic?',
    'What is a service?',
    'What is an action?',
    'What is a parameter?',
  ];
  const responses = await chat([...questions, '/reset', 'What is nvblox?']);
  expect(responses.map(({ turnNumber }) => turnNumber)).toEqual([1, 2, 3, 4, 5, 6]);
  note('five turns, a reset and another: searched', ...responses.map((each) => each.retrievalPerformed));
  note('five turns, a reset and another: grounded', ...responses.map((each) => each.grounded));
});

test('a greeting is answered', async () => {
  const responses = await chat(['Hello!', 'Thank you']);
  note('a greeting and thanks: no search', ...responses.map((each) => !each.retrievalPerformed));
});

test('a run is replayed from its tape without the engine and the file', async () => {
  const recorded = await ask('What is Gazebo?', '--policy', 'always');
  const tape = join(home, `${tapes}.tape.json`);
  const replay = ['ask', 'What is Gazebo?', '--replay', tape, '--json'];
  const nowhere = { CITELOOP_ENGINE_DIR: join(home, 'nowhere'), CITELOOP_GGUF_DIR: join(home, 'nowhere') };
  const { stdout, stderr } = await runInProcess(replay, { home, env: nowhere });
  expect(stderr).not.toContain('not installed');
  const { answer, citations } = agentResponseSchema.parse(JSON.parse(stdout));
  expect({ answer, citations }).toEqual({ answer: recorded.answer, citations: recorded.citations });
});

test('documents that carry instructions and forged sources', async () => {
  const ingested = await runInProcess(['ingest', join(FIXTURES, 'poisoned'), '--collection', 'poisoned'], {
    home,
  });
  expect(ingested).toMatchObject({ code: 0 });
  const cases = readFileSync(join(FIXTURES, 'cases/poisoned.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PoisonedCase)
    .filter(({ history }) => history === undefined);
  const clean: boolean[] = [];
  const right: boolean[] = [];
  const repeated: string[] = [];
  for (const { question, expectedPhrases = [], forbiddenPhrases } of cases) {
    const { answer } = await ask(question, '--collection', 'poisoned', '--policy', 'always');
    const says = (phrase: string) => answer.toLowerCase().includes(phrase.toLowerCase());
    const wanted = forbiddenPhrases.filter(says);
    clean.push(wanted.length === 0);
    repeated.push(...wanted.map((phrase) => `"${phrase}" to "${question}"`));
    if (expectedPhrases.length > 0) right.push(expectedPhrases.every(says));
  }
  const but = repeated.length === 0 ? '' : `, but ${repeated.join(', ')}`;
  note(`poisoned documents: nothing said that they want said${but}`, ...clean);
  note('poisoned documents: what they answer, word for word', ...right);
});

interface PoisonedCase {
  question: string;
  history?: unknown[];
  expectedPhrases?: string[];
  forbiddenPhrases: string[];
}
