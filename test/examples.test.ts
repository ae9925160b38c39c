import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listen } from '../src/server/http/listen.ts';
import { copyHomeWithBook } from './support/copy-home.ts';
import { endWithParent } from './support/end-with-parent.ts';
import { createModelServer } from './support/model-server.ts';
import { createCliEnvironment } from './support/run-cli.ts';

const home = mkdtempSync(join(tmpdir(), 'citeloop-examples-'));
beforeAll(() => copyHomeWithBook(home));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const pathOf = (name: string) => join(import.meta.dirname, '../examples', name);

async function runExample(name: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await endWithParent(
    promisify(execFile)(process.execPath, [pathOf(name)], {
      env: createCliEnvironment(home, env),
      cwd: home,
    }),
  );
  return stdout;
}

/** The environment of a program whose model answers from a script. */
async function serveScript(steps: ConstructorParameters<typeof ScriptedModel>[0]) {
  const server = createModelServer({
    model: new ScriptedModel(steps),
    modelName: 'scripted',
    embedder: async () => {
      throw new Error('not used');
    },
    embedderName: 'none',
  });
  const listening = await listen(server.fetch, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => listening.close(0));
  return { OPENAI_BASE_URL: `${listening.url}/v1`, OPENAI_MODEL: 'scripted' };
}

test('every example is run by a test', () => {
  const tested = ['ask', 'own-tool', 'own-retriever', 'structured-output', 'recording.test', 'hono-handler'];
  expect(globSync('*.ts', { cwd: pathOf('') }).sort()).toEqual(tested.map((name) => `${name}.ts`).sort());
});

test('ask.ts streams an answer and asks a follow-up', async () => {
  const stdout = await runExample('ask.ts');
  expect(stdout).toContain('searching: What is Isaac Sim?');
  expect(stdout).toContain('grounded: true');
  expect(stdout).toMatch(/\[\d+\] .*: (quoted|supported)/);
});

test('own-tool.ts lets the model call a tool', async () => {
  const env = await serveScript([
    [functionCall('order_status', { orderId: '17' }, { callId: 'c1' })],
    [assistantMessage('Order 17 was shipped.')],
  ]);
  expect(await runExample('own-tool.ts', env)).toBe('scripted: Order 17 was shipped.\n');
});

test('own-retriever.ts answers from the passages of a function', async () => {
  const stdout = await runExample('own-retriever.ts');
  expect(stdout).toContain('borrowed for four weeks');
  expect(stdout).toContain('[1] https://library.example/loans: quoted');
});

test('structured-output.ts prints an object', async () => {
  const env = await serveScript([
    [functionCall('search_docs', { query: 'create package' }, { callId: 'c1' })],
    [assistantMessage(JSON.stringify({ summary: 'Use the command [1].', steps: ['Run it [1].'] }))],
  ]);
  expect(await runExample('structured-output.ts', env)).toBe('- Run it [1].\n1 sources\n');
});

test('recording.test.ts records and then replays', async () => {
  const env = { ...createCliEnvironment(home), TAPE: join(home, 'order.tape.json') };
  const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs');
  const run = (extra: Record<string, string>) =>
    endWithParent(
      promisify(execFile)(process.execPath, [vitest, 'run', '--root', pathOf('')], {
        env: { ...env, ...extra },
      }),
    );
  expect((await run({ RECORD: '1' })).stdout).toContain('1 passed');
  expect((await run({})).stdout).toContain('1 passed');
});

test('hono-handler.ts streams events over HTTP and ends on SIGTERM', async () => {
  const child = endWithParent(
    spawn(process.execPath, [pathOf('hono-handler.ts')], {
      env: createCliEnvironment(home, { PORT: '0' }),
      cwd: home,
    }),
  );
  const ended = once(child, 'exit');
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const ask = (body: unknown) => fetch(line.trim(), { method: 'POST', body: JSON.stringify(body) });
  const events = await (await ask({ question: 'What is ROS 2?' })).text();
  expect(events).toContain('event: text');
  expect(events).toMatch(/event: done\ndata: .*"grounded":true/);
  const unknown = await ask({ question: 'x', sessionId: '00000000-0000-4000-8000-000000000000' });
  expect(unknown.status).toBe(400);
  expect(await unknown.json()).toMatchObject({ errorType: 'invalid_input' });
  child.kill('SIGTERM');
  await ended;
});
