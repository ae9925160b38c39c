import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { expect, onTestFinished, test } from 'vitest';
import type { AgentResponse } from '../../../src/domain/agent-response.ts';
import { reportDataSchema } from '../../../src/evaluation/report/report-data.ts';
import { createModelDirectory } from '../../support/model-directory.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { countWord } from '../../support/tiny-cross-encoder.ts';

const ANSWER = 'An owl hunts small animals after dark [1]. It sleeps through the whole winter [1].';
const WINTER = 'The passage does not mention winter.';

interface ChatRequest {
  messages: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
  response_format?: { type: string };
}

/** A model that searches, answers, and objects to the second sentence if it is asked to check. */
function startModel(): ChatRequest[] {
  const checks: ChatRequest[] = [];
  const server = setupServer(
    http.post('https://model.test/v1/chat/completions', async ({ request }) => {
      const body = (await request.json()) as ChatRequest;
      const isCheck = body.response_format?.type === 'json_schema';
      if (isCheck) checks.push(body);
      const tool = body.tools?.[0]?.function.name;
      const isSearch = tool !== undefined && body.messages.at(-1)?.role === 'user';
      const message = isSearch
        ? {
            content: null,
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: tool, arguments: '{"query":"owls"}' } },
            ],
          }
        : {
            content: isCheck ? JSON.stringify({ unsupported: [{ sentence: 2, reason: WINTER }] }) : ANSWER,
          };
      return HttpResponse.json({
        id: 'r1',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 },
      });
    }),
  );
  server.listen();
  onTestFinished(() => server.close());
  return checks;
}

async function prepare() {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs'));
  await writeFile(
    join(home, 'docs/owl.md'),
    '# Owls\n\nAn owl hunts mice and other small animals at night.\n',
  );
  const model = ['--model', 'm', '--base-url', 'https://model.test/v1', '--api', 'chat_completions'];
  const run = (...args: string[]) =>
    runInProcess([...args, ...model], { home, env: { OPENAI_API_KEY: 'a-test-key' } });
  expect((await runInProcess(['ingest', 'docs'], { home })).code).toBe(0);
  const ask = async (...flags: string[]) => {
    const { code, stdout, stderr } = await run(
      'ask',
      'When does an owl hunt?',
      '--json',
      '--no-stream',
      ...flags,
    );
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return JSON.parse(stdout) as AgentResponse;
  };
  return { home, run, ask };
}

const verdictsOf = ({ sentences }: AgentResponse) => sentences.map(({ verdict }) => verdict);

test('--check model asks the model once, takes its reasons and counts its tokens', async () => {
  const checks = startModel();
  const { ask, run } = await prepare();
  const plain = await ask();
  expect([plain.checkedBy, plain.tokensUsed.total, checks.length]).toEqual(['words', 100, 0]);

  const checked = await ask('--check', 'model');
  expect([checked.checkedBy, checked.tokensUsed.total, checks.length]).toEqual(['model', 150, 1]);
  expect(verdictsOf(checked)).toEqual(['supported', 'unsupported']);
  expect(checked.sentences[1]?.reason).toEqual({ kind: 'not_entailed', text: WINTER });
  const { evidence } = checked.sentences[0] ?? {};
  expect(evidence).toEqual({
    chunkId: checked.citations[0]?.chunkId,
    start: 0,
    end: 51,
    text: 'An owl hunts mice and other small animals at night.',
  });
  expect(checks[0]?.messages.at(-1)?.content).toContain('An owl hunts mice');

  const { stdout } = await run('ask', 'When does an owl hunt?', '--no-stream', '--check', 'model');
  expect(stdout).toContain(WINTER);
});

test('--check off supports every citation, and the offline model cannot check', async () => {
  startModel();
  const { ask, home } = await prepare();
  const unchecked = await ask('--check', 'off');
  expect([unchecked.checkedBy, unchecked.grounded]).toEqual(['off', true]);
  expect(verdictsOf(unchecked)).toEqual(['supported', 'supported']);
  expect(await runInProcess(['ask', 'What?', '--check', 'model'], { home })).toMatchObject({ code: 3 });
  expect(await runInProcess(['ask', 'What?', '--check', 'magic'], { home })).toMatchObject({ code: 2 });
});

test('--check onnx asks a classifier whether the passage entails a sentence', async () => {
  startModel();
  const { ask } = await prepare();
  const directory = await createModelDirectory({
    model: countWord('owl'),
    files: { 'citeloop.json': { threshold: 0.6 } },
  });
  const checked = await ask('--check', `onnx:${directory}`);
  expect(checked.checkedBy).toBe('onnx');
  expect(verdictsOf(checked)).toEqual(['supported', 'unsupported']);
});

test('compares checkers as arms', async () => {
  startModel();
  const { home, run } = await prepare();
  await writeFile(
    join(home, 'cases.jsonl'),
    '{"id":"owl","question":"When does an owl hunt?","expectedPhrases":["dark"]}\n',
  );
  const arms = ['--arm', 'check=model stream=off', '--arm', 'check=off stream=off'];
  expect(await run('compare', 'cases.jsonl', ...arms, '--json', 'out.json')).toMatchObject({ code: 0 });
  const { cases } = reportDataSchema.parse(JSON.parse(readFileSync(join(home, 'out.json'), 'utf8')));
  const verdicts = Object.values(cases[0]?.results ?? {}).map(({ runs }) =>
    runs[0]?.sentences.map(({ verdict }) => verdict),
  );
  expect(verdicts).toEqual([
    ['supported', 'unsupported'],
    ['supported', 'supported'],
  ]);
  expect(await run('compare', 'cases.jsonl', '--arm', 'check=magic', '--arm', 'check=off')).toMatchObject({
    code: 2,
  });
});
