import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import type { AgentResponse } from '../../../src/domain/agent-response.ts';
import { homeWithDocuments } from '../../server/home-with-documents.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { serveOfflineModel } from '../../support/serve-offline-model.ts';

const QUESTION = 'What is ROS 2?';
test('gives the same answer over HTTP with both APIs, and before a search as with the model in the process', async () => {
  const home = await homeWithDocuments();
  const { url, flags } = await serveOfflineModel();
  const served = [...flags, '--tool-name', 'retrieve_context'];
  const ask = async (...flags: string[]) => {
    const { stdout, code } = await runInProcess(['ask', QUESTION, '--json', ...flags], { home });
    expect(code).toBe(0);
    const { answer, citations, grounded, tokensUsed } = JSON.parse(stdout) as AgentResponse;
    return { answer, citations, grounded, completion: tokensUsed.completion };
  };
  const overChat = await ask(...served, '--api', 'chat_completions');
  expect(overChat.grounded).toBe(true);
  expect(await ask(...served, '--api', 'responses')).toEqual(overChat);
  expect(await ask(...served, '--policy', 'always')).toEqual(await ask('--policy', 'always'));

  // No request to the model service contains a local path.
  for (const policy of ['tool', 'always']) {
    const tape = join(home, `${policy}.tape.json`);
    await ask(...served, '--policy', policy, '--record', tape);
    const { exchanges } = JSON.parse(await readFile(tape, 'utf8')) as { exchanges: { request: object }[] };
    const sent = JSON.stringify(exchanges.map(({ request }) => request));
    expect(sent).toContain('ROS 2');
    for (const place of ['file:', tmpdir(), process.cwd()]) expect(sent).not.toContain(place);
  }

  const client = new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  const [model, embedder] = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
  expect(model).toBe('offline-served');
  const { data } = await client.embeddings.create({ model: embedder ?? '', input: ['a robot', 'a fish'] });
  expect(data.map(({ embedding }) => embedding.length)).toEqual([384, 384]);
});
