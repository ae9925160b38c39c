import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import type { AgentResponse } from '../../../src/domain/agent-response.ts';
import { homeWithDocuments } from '../../server/home-with-documents.ts';
import { startProgram } from '../../server/start-program.ts';
import { runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { serveOfflineModel } from '../../support/serve-offline-model.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const TOKEN = 'correct-horse-battery-staple';

test('the server gives the same answers as the command line and shares its sessions', async () => {
  const home = await homeWithDocuments();
  const { ready, stop } = await startProgram(['serve'], { home });
  const client = new OpenAI({ apiKey: 'none', baseURL: `${ready.url}/v1`, maxRetries: 0 });
  const question = 'What is ROS 2?';
  const asked = await runCli(['ask', question, '--json'], { home });
  const { answer } = JSON.parse(asked.stdout) as AgentResponse;
  const completion = await client.chat.completions.create({
    model: 'citeloop',
    messages: [{ role: 'user', content: question }],
  });
  expect(completion.choices[0]?.message.content).toBe(answer);
  expect((await client.responses.create({ model: 'citeloop', input: question })).output_text).toBe(answer);

  const body = JSON.stringify({ question });
  const headers = { 'content-type': 'application/json' };
  const events = await (await fetch(`${ready.url}/api/ask`, { method: 'POST', body, headers })).text();
  const { sessionId } = JSON.parse(events.split('\n')[0] ?? '');
  const goesOn = await runCli(['ask', 'How does it differ from ROS 1?', '--session', sessionId, '--json'], {
    home,
  });
  expect(JSON.parse(goesOn.stdout)).toMatchObject({ sessionId, turnNumber: 2 });
  const kept = (await (await fetch(`${ready.url}/api/sessions/${sessionId}`)).json()) as {
    turns: unknown[];
  };
  expect(kept.turns).toHaveLength(2);
  const page = await fetch(ready.url);
  expect(page.status).toBe(200);
  expect(await stop()).toMatchObject({ code: 0, stderr: '' });
});

test('a public address requires the token', async () => {
  const home = await homeWithDocuments();
  const serve = (...flags: string[]) => runInProcess(['serve', '--port', '0', ...flags], { home });
  const without = await serve('--host', '0.0.0.0');
  expect(without.code).toBe(2);
  expect(without.stderr).toContain('a token is required');
  expect((await serve('--token', 'short')).code).toBe(2);
  expect((await serve('--token-file', 'nothing.txt')).code).toBe(2);
  expect((await serve('--concurrency', '0')).code).toBe(2);

  await writeFile(join(home, 'token.txt'), `${TOKEN}\n`);
  const { ready, stop } = await startProgram(
    ['serve', '--host', '0.0.0.0', '--token-file', 'token.txt', '--verbose'],
    { home, env: { OPENAI_API_KEY: 'sk-very-secret-0123456789' } },
  );
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  for (const address of ['127.0.0.1', ...(outside === undefined ? [] : [outside])]) {
    const models = `http://${address}:${ready.port}/v1/models`;
    expect((await fetch(models)).status).toBe(401);
    const authorization = `Bearer ${TOKEN}`;
    expect((await fetch(models, { headers: { authorization } })).status).toBe(200);
    expect((await fetch(`${models}/${TOKEN}`, { headers: { authorization } })).status).toBe(404);
  }
  const { stderr, code } = await stop();
  expect(code).toBe(0);
  expect(stderr).toContain('GET /v1/models 401');
  expect(stderr).not.toContain(TOKEN);
  expect(stderr).not.toContain('sk-very-secret');
});

test('SIGTERM ends it while the model is downloaded by an npm that ignores signals', async () => {
  const home = await createTemporaryDirectory();
  const started = join(home, 'started');
  const npm = ['#!/bin/sh', 'trap "" TERM', `echo $$ > '${started}'`, 'exec sleep 600', ''];
  await writeFile(join(home, 'npm'), npm.join('\n'), { mode: 0o755 });
  onTestFinished(async () => void process.kill(Number(await readFile(started, 'utf8')), 'SIGKILL'));
  const { code } = await runCli(['serve', '--port', '0'], {
    home,
    env: {
      PATH: `${home}:${process.env.PATH}`,
      XDG_CACHE_HOME: join(home, 'cache'),
      CITELOOP_MODEL_DIR: '',
    },
    onStart: async (child) => {
      await expect.poll(() => existsSync(started), { timeout: 20_000 }).toBe(true);
      child.kill('SIGTERM');
    },
  });
  expect(code).toBe(130);
}, 60_000);

test('SIGTERM ends it while it indexes the sample book, which the next command completes', async () => {
  const home = await createTemporaryDirectory();
  const file = join(home, 'collections', 'sample_book.sqlite');
  const { code } = await runCli(['serve', '--port', '0'], {
    home,
    onStart: async (child) => {
      await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);
      child.kill('SIGTERM');
    },
  });
  expect(code).toBe(130);
  const { stdout } = await runCli(['search', 'What is ROS 2?', '--json'], { home });
  expect(JSON.parse(stdout).collection).toBe('sample_book');
}, 60_000);

test('a port in use is reported in one line', async () => {
  const home = await homeWithDocuments();
  const { url, stop } = await serveOfflineModel();
  const { port } = new URL(url);
  const second = await runInProcess(['serve', '--port', port], { home });
  expect(second).toMatchObject({ code: 2, stdout: '' });
  expect(second.stderr).toContain(`Port ${port} of 127.0.0.1 is in use by another program.`);
  expect((await runInProcess(['serve', '--port', '70000'], { home })).code).toBe(2);
  await stop();
});

test('Ctrl-C lets running answers finish', async () => {
  const home = await homeWithDocuments();
  const { ready, stop } = await startProgram(['serve', '--grace', '240'], { home });
  const body = JSON.stringify({ question: 'What is ROS 2?' });
  const headers = { 'content-type': 'application/json' };
  const asked = Array.from({ length: 20 }, () =>
    fetch(`${ready.url}/api/ask`, { method: 'POST', body, headers }),
  );
  const responses = await Promise.all(asked);
  const stopped = stop();
  for (const response of responses) expect(await response.text()).toContain('"type":"turn_completed"');
  expect(await stopped).toMatchObject({ code: 0, stderr: '' });
});
