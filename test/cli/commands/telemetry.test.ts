import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from '../../server/start-program.ts';
import { copyHomeWithBook } from '../../support/copy-home.ts';
import { findFreePort } from '../../support/free-port.ts';
import { createCliEnvironment, PROGRAM_PATH, runCli } from '../../support/run-cli.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { formatTraceTree, startTraceCollector } from '../../support/trace-collector.ts';

const QUESTION = 'What is ROS 2?';
const TREE = ['invoke_agent citeloop', '  chat offline', '  execute_tool retrieve_context'];

const home = mkdtempSync(join(tmpdir(), 'citeloop-telemetry-'));
beforeAll(() => copyHomeWithBook(home));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('ask exports the trace of its answer before it ends, without content', async () => {
  const { env, spans, resources, paths } = await startTraceCollector();
  const { code, stderr } = await runCli(['ask', QUESTION, '--mode', 'lexical'], { home, env });
  expect(code, stderr).toBe(0);
  const tree = formatTraceTree(spans());
  expect(tree.slice(0, 4)).toEqual([...TREE, '    retrieval sample_book']);
  const [chat] = spans().filter(({ name }) => name === 'chat offline');
  expect(chat?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'citeloop',
    'gen_ai.usage.input_tokens': expect.anything(),
  });
  expect(resources()[0]).toMatchObject({ 'service.name': 'citeloop' });
  // Neither a span nor the resource, such as the command line, has the question.
  expect(JSON.stringify([spans(), resources()])).not.toMatch(/ROS|robot/i);
  expect([...paths]).toEqual(['/v1/traces']);
});

test('content, the service name and search follow the variables', async () => {
  const { env, spans, resources } = await startTraceCollector();
  const named = {
    ...env,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'span_only',
    OTEL_SERVICE_NAME: 'handbook',
  };
  await runCli(['search', QUESTION, '--mode', 'lexical'], { home, env: named });
  expect(spans()).toMatchObject([
    { name: 'retrieval sample_book', attributes: { 'gen_ai.retrieval.query.text': QUESTION } },
  ]);
  expect(resources()[0]).toMatchObject({ 'service.name': 'handbook' });
  await runCli(['search', QUESTION, '--mode', 'lexical'], {
    home,
    env: { ...named, OTEL_SDK_DISABLED: 'true' },
  });
  await runCli(['search', QUESTION, '--mode', 'lexical'], {
    home,
    env: { ...named, OTEL_TRACES_EXPORTER: 'none' },
  });
  expect(spans()).toHaveLength(1);
});

test('a provider of the user is used and flushed', async () => {
  const { env, spans } = await startTraceCollector();
  const setup = join(home, 'tracing.mjs');
  const resolved = import.meta.resolve('@opentelemetry/sdk-node');
  const lines = [
    `import sdk from ${JSON.stringify(resolved)};`,
    `process.env.OTEL_EXPORTER_OTLP_ENDPOINT = ${JSON.stringify(env.OTEL_EXPORTER_OTLP_ENDPOINT)};`,
    `new sdk.NodeSDK({ resourceDetectors: [] }).start();`,
  ];
  await writeFile(setup, lines.join('\n'));
  const variables = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', NODE_OPTIONS: `--import ${setup}` };
  const { code, stderr } = await runCli(['ask', QUESTION, '--mode', 'lexical'], { home, env: variables });
  expect(code, stderr).toBe(0);
  expect(formatTraceTree(spans()).slice(0, 3)).toEqual(TREE);
});

test('files of a project neither enable traces nor choose the collector', async () => {
  const { env, requests } = await startTraceCollector();
  const cwd = await createTemporaryDirectory();
  const variables = { ...env, OTEL_TRACES_EXPORTER: 'otlp' };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  await writeFile(join(cwd, '.env'), lines.join('\n'));
  const { code, stderr } = await runCli(['ask', QUESTION, '--mode', 'lexical'], { home, cwd });
  expect(code, stderr).toBe(0);
  expect(requests).toEqual([]);
});

test('a collector that does not answer delays a command a little and fails nothing', async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await findFreePort()}` };
  const { code, stdout, stderr } = await runCli(['ask', QUESTION, '--mode', 'lexical'], {
    home,
    env: endpoint,
  });
  expect(code).toBe(0);
  expect(stdout).toContain('ROS 2');
  expect(stderr).toContain('OTEL_LOG_LEVEL=error');
});

test('serve exports the answers of the page and of /v1 when it is stopped', async () => {
  const { env, spans } = await startTraceCollector();
  const slow = { ...env, OTEL_BSP_SCHEDULE_DELAY: '600000' };
  const program = await startProgram(['serve', '-c', 'sample_book', '--mode', 'lexical'], {
    home,
    env: slow,
  });
  const models = await fetch(`${program.ready.url}/v1/models`);
  const { data } = (await models.json()) as { data: [{ id: string }] };
  const response = await fetch(`${program.ready.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: data[0].id, messages: [{ role: 'user', content: QUESTION }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  program.child.kill('SIGTERM');
  await program.ended;
  expect(formatTraceTree(spans()).slice(0, 3)).toEqual(TREE);
});

test('mcp traces its searches and exports them when its input ends', async () => {
  const { env, spans } = await startTraceCollector();
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM_PATH, 'mcp', '-c', 'sample_book', '--mode', 'lexical'],
    env: createCliEnvironment(home, env),
  });
  await client.connect(transport);
  await client.callTool({ name: 'search_docs', arguments: { query: QUESTION } });
  await client.close();
  await expect.poll(() => spans().map(({ name }) => name)).toEqual(['retrieval sample_book']);
});
