import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { modelsInUse } from '../../src/adapters/llama/shared-models.ts';
import { copyHomeWithChapters } from '../support/prepared-home.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { writeTinyGguf } from '../support/tiny-gguf.ts';

/** A home with documents, and a model in it. */
async function homeWithModel(): Promise<{ home: string; model: string }> {
  const home = await temporaryDirectory();
  await copyHomeWithChapters(home);
  return { home, model: writeTinyGguf(join(home, 'tiny.gguf')) };
}

const QUESTION = 'What is a node?';

test('a model in a file searches, answers and is counted, and its tape replays without the file and the engine', async () => {
  const { home, model } = await homeWithModel();
  const tape = join(home, 'a.tape.json');
  const asked = await runInProcess(
    [
      'ask',
      QUESTION,
      '--model',
      './tiny.gguf',
      '--policy',
      'first',
      '--json',
      '--max-tokens',
      '300',
      '--record',
      tape,
    ],
    { home },
  );
  const response = JSON.parse(asked.stdout);
  expect(response).toMatchObject({ model: 'tiny.gguf', retrievalCount: 1 });
  expect(response.tokensUsed).not.toHaveProperty('estimated');
  expect(response.tokensUsed.prompt).toBeGreaterThan(500);
  expect(
    response.citations.filter(({ verdict }: { verdict: string }) => verdict === 'unknown_source'),
  ).toEqual([]);
  expect(modelsInUse()).toBe(0);

  const kept = readFileSync(tape, 'utf8');
  expect(kept).toContain('http://llama.cpp/v1/chat/completions');
  expect(kept).toMatch(/"temperature": ?0,?\n/);
  expect(kept).toMatch(/"weights": ?"gguf-[0-9a-f]{32}"/);
  rmSync(model);
  const replayed = await runInProcess(['replay', tape], {
    home,
    env: { CITELOOP_ENGINE_DIR: join(home, 'none') },
  });
  expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('same') });
});

test('a tape tells when it is asked again of another file', async () => {
  const { home, model } = await homeWithModel();
  const tape = join(home, 'a.tape.json');
  const ask = ['ask', QUESTION, '--model', model, '--policy', 'never', '--max-tokens', '40'];
  await runInProcess([...ask, '--record', tape], { home });
  const same = await runInProcess(['tape', 'renew', tape], { home });
  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('same') });
  writeTinyGguf(model, { seed: 6 });
  const other = await runInProcess(['tape', 'renew', tape], { home });
  expect(other).toMatchObject({ code: 7, stdout: expect.stringMatching(/weights: .*gguf-/) });
  const again = join(home, 'b.tape.json');
  await runInProcess([...ask, '--record', again], { home });
  const compared = await runInProcess(['tape', 'diff', tape, again], { home });
  expect(compared).toMatchObject({ code: 7, stdout: expect.stringMatching(/answer\.weights.*gguf-/) });
});

test('a follow-up reads what is new in it, not the conversation again', async () => {
  const { home, model } = await homeWithModel();
  const tape = join(home, 'chat.tape.json');
  const { stdout } = await runInProcess(
    ['chat', '--model', model, '--policy', 'never', '--max-tokens', '30', '--record', tape],
    {
      home,
      input: 'What is a node?\nAnd what is a topic?\n',
    },
  );
  expect(stdout.replace(/\s+/g, ' ')).toMatch(
    /model did not search your documents and cites none of them. They are searched first with \/policy always\./,
  );
  const usages = Array.from(
    readFileSync(tape, 'utf8').matchAll(/"prompt_tokens": ?(\d+)[\s\S]*?"cached_tokens": ?(\d+)/g),
    ([, prompt, kept]) => ({ prompt: Number(prompt), kept: Number(kept) }),
  );
  expect(usages).toHaveLength(2);
  expect(usages[0]?.kept).toBe(0);
  expect(usages[1]?.kept).toBeGreaterThanOrEqual((usages[0]?.prompt ?? 0) - 1);
});

test('a model may be named by its file in the models directory', async () => {
  const { home, model } = await homeWithModel();
  mkdirSync(join(home, 'models'));
  renameSync(model, join(home, 'models/tiny.gguf'));
  const asked = await runInProcess(
    ['ask', QUESTION, '--model', 'tiny', '--policy', 'never', '--json', '--max-tokens', '20'],
    { home },
  );
  expect(JSON.parse(asked.stdout).model).toBe('tiny.gguf');
});

test('the window is that of the model, and budgets shrink to it', async () => {
  const { home, model } = await homeWithModel();
  writeTinyGguf(model, { contextLength: 3000 });
  const asked = await runInProcess(['ask', QUESTION, '--model', model, '--policy', 'always', '--json'], {
    home,
  });
  const response = JSON.parse(asked.stdout);
  expect(response.tokensUsed.total).toBeLessThanOrEqual(3000);
  expect(response.retrievalCount).toBe(1);
});

test('only a model that may hold more is said to have more room with a larger window', async () => {
  const { home, model } = await homeWithModel();
  const prompt = ['--system-prompt', 'Be terse. '.repeat(300)];
  const noteOf = async (contextLength: number) => {
    writeTinyGguf(model, { contextLength });
    const ask = ['ask', QUESTION, '--model', model, '--policy', 'never', '--max-tokens', '10', ...prompt];
    return (await runInProcess(ask, { home })).stderr.replace(/\s+/g, ' ');
  };
  expect(await noteOf(8000)).toMatch(/The system prompt may take .* for passages\.(?! A larger)/);
  expect(await noteOf(32_768)).toContain('for passages. A larger contextWindow');
});

test.each<[string, (path: string) => unknown, string[], RegExp]>([
  ['is no GGUF', (path) => writeFileSync(path, 'PK not a model'), [], /tiny\.gguf is not a GGUF file\./],
  [
    'is cut',
    (path) => writeFileSync(path, readFileSync(path).subarray(0, -1000)),
    [],
    /is cut: \d+ of its \d+ bytes/,
  ],
  ['is not there', (path) => rmSync(path), [], /There is no model file .*tiny\.gguf/],
  ['has no chat template', (path) => writeTinyGguf(path, { chatTemplate: null }), [], /has no chat template/],
  [
    'has a small window',
    (path) => writeTinyGguf(path, { contextLength: 256 }),
    [],
    /is to hold 256 tokens at once, and an answer from a passage takes 1024.*\n.*Use a model that was made for more/,
  ],
  [
    'is given a small window',
    () => {},
    ['--context-window', '512'],
    /is to hold 512 tokens at once.*\n.*Raise --context-window, or leave it out/,
  ],
  [
    'is asked for more than it was made for',
    () => {},
    ['--context-window', '99999'],
    /was made for 32768 tokens at once/,
  ],
  [
    'needs more memory than there is',
    (path) => writeTinyGguf(path, { contextLength: 2 ** 31 }),
    ['--context-window', '2000000000'],
    /needs [\d.]+ GB of memory .* and this machine has/,
  ],
])('a file that %s is told in one sentence, and nothing stays', async (_, spoil, flags, sentence) => {
  const { home, model } = await homeWithModel();
  spoil(model);
  const asked = await runInProcess(['ask', QUESTION, '--model', model, ...flags], { home });
  expect(asked).toMatchObject({ stdout: '', stderr: expect.stringMatching(sentence) });
  expect(asked.code).not.toBe(0);
  expect(modelsInUse()).toBe(0);
});

test('where the engine is missing, the command that installs it is told', async () => {
  const { home, model } = await homeWithModel();
  const asked = await runInProcess(['ask', QUESTION, '--model', model], {
    home,
    env: { CITELOOP_ENGINE_DIR: home },
  });
  expect(asked.code).not.toBe(0);
  expect(asked.stderr.replace(/\s+/g, ' ')).toContain(
    `npm i --prefix ${home} node-llama-cpp@3.22.1 @node-llama-cpp/`,
  );
});
