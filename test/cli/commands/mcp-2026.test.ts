import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { copyHomeWithBook } from '../../support/copy-home.ts';
import { createCliEnvironment, PROGRAM_PATH, runCli } from '../../support/run-cli.ts';

let home = '';
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'citeloop-mcp-'));
  await copyHomeWithBook(home);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const newClient = () =>
  new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });

async function expectToWork(client: Client): Promise<void> {
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual([
    'ask',
    'read_source',
    'search_docs',
  ]);
  const found = await client.callTool({
    name: 'search_docs',
    arguments: { query: 'What is ROS 2?', top_k: 1 },
  });
  expect(found.structuredContent).toMatchObject({ results: [{ title: expect.stringContaining('ROS 2') }] });
  const steps: (string | undefined)[] = [];
  const answered = await client.callTool(
    { name: 'ask', arguments: { question: 'What is ROS 2?' } },
    { onprogress: ({ message }) => steps.push(message) },
  );
  expect(answered.structuredContent).toMatchObject({ grounded: true, outcome: 'answer' });
  expect(steps.length).toBeGreaterThan(0);
}

test('a client of the protocol of 2026 works over stdio', async () => {
  const client = newClient();
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM_PATH, 'mcp', '--collection', 'sample_book'],
      cwd: home,
      env: createCliEnvironment(home),
      stderr: 'ignore',
    }),
  );
  await expectToWork(client);
});

test('a client of the protocol of 2026 works over HTTP without a session', async () => {
  const url = await new Promise<string>((resolve, reject) => {
    const run = runCli(['mcp', '--http', '--port', '0', '--json', '--collection', 'sample_book'], {
      home,
      onStart(child) {
        onTestFinished(() => void child.kill('SIGINT'));
        child.stdout?.once('data', (line: string) => resolve(JSON.parse(line).url));
      },
    });
    run.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  const client = newClient();
  await client.connect(transport);
  expect(transport.sessionId).toBeUndefined();
  await expectToWork(client);
});
