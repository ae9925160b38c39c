import OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { AgentResponse } from '../../src/domain/agent-response.ts';
import { startProgram } from '../serve/start-program.ts';
import { runCli } from '../support/run-cli.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const QUESTION = 'What is ROS 2?';

test('the agent answers over the wire, by either API, as it does with the model in its own process', async () => {
  const home = await temporaryDirectory();
  const { ready, stop } = await startProgram(['serve-model'], { home });
  const ask = async (...flags: string[]) => {
    const { stdout, code } = await runCli(['ask', QUESTION, '--json', ...flags], { home });
    expect(code).toBe(0);
    const { answer, citations, grounded, tokensUsed } = JSON.parse(stdout) as AgentResponse;
    return { answer, citations, grounded, completion: tokensUsed.completion };
  };
  const served = ['--model', 'offline-served', '--base-url', ready.url];
  const inProcess = await ask();
  expect(inProcess.grounded).toBe(true);
  expect(await ask(...served, '--api', 'chat_completions')).toEqual(inProcess);
  expect(await ask(...served, '--api', 'responses')).toEqual(inProcess);
  expect(await ask(...served, '--policy', 'always')).toEqual(await ask('--policy', 'always'));

  const client = new OpenAI({ apiKey: 'none', baseURL: ready.url, maxRetries: 0 });
  const [model, embedder] = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
  expect(model).toBe('offline-served');
  const { data } = await client.embeddings.create({ model: embedder ?? '', input: ['a robot', 'a fish'] });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([384, 384]);

  expect(await stop()).toMatchObject({ code: 0, stderr: '' });
});

test('a port that is taken is a clear line', async () => {
  const home = await temporaryDirectory();
  const { ready } = await startProgram(['serve-model'], { home });
  const second = await runCli(['serve-model', '--port', String(ready.port)], { home });
  expect(second).toMatchObject({ code: 2, stdout: '' });
  expect(second.stderr).toContain(`Another program listens on 127.0.0.1 port ${ready.port}.`);
  expect((await runCli(['serve-model', '--port', '70000'], { home })).code).toBe(2);
});
