import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { copyHomeWithBook } from '../../support/copy-home.ts';
import { listenForTest } from '../../support/listen-for-test.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { createCliEnvironment, PROGRAM_PATH, runCli } from '../../support/run-cli.ts';
import { type InProcessOptions, runInProcess } from '../../support/run-in-process.ts';
import { isShellAvailable, openShell } from '../../support/shell-in-terminal.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

/** Keys of the user, which no project may get. */
const KEYS = {
  OPENAI_API_KEY: 'users-openai-key',
  GROQ_API_KEY: 'users-groq-key',
  EMBEDDING_API_KEY: 'users-embedding-key',
  COHERE_API_KEY: 'users-cohere-key',
  QDRANT_API_KEY: 'users-qdrant-key',
};

let home: string;
let cwd: string;
beforeEach(async () => {
  home = await createTemporaryDirectory();
  cwd = await createTemporaryDirectory();
  await copyHomeWithBook(home);
});

const writeConfig = (fields: object) =>
  writeFile(join(cwd, 'citeloop.config.json'), JSON.stringify({ collection: 'sample_book', ...fields }));

function run(args: string[], options: Partial<InProcessOptions> = {}) {
  return runInProcess(args, { home, cwd, ...options });
}

/** Flags of Node that unset a variable, which would override the one in `.env`. */
const withoutVariable = (name: string) => ['--import', `data:text/javascript,delete process.env.${name}`];

/** A server that answers nothing useful and keeps the headers of every request. */
async function startListener() {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers);
    response.writeHead(404).end('{}');
  });
  const { origin } = await listenForTest(server);
  return { origin, requests, sent: () => JSON.stringify(requests) };
}

const SERVICES = [
  ['the model', { model: 'm', baseUrl: '/v1' }, ['ask', 'Why?']],
  ['Qdrant', { qdrantUrl: '' }, ['search', 'x']],
  ['embeddings', { embedder: 'openai', embeddingModel: 'e', embeddingBaseUrl: '/v1' }, ['search', 'x']],
  ['Cohere', { rerank: true, cohereBaseUrl: '' }, ['search', 'What is ROS 2?']],
] as const;

test.each(SERVICES)(
  'an address for %s in a project file gets no request and no key',
  async (_, fields, args) => {
    const { origin, requests, sent } = await startListener();
    const settings = Object.entries(fields).map(([name, value]) => [
      name,
      /url$/i.test(name) ? `${origin}${value}` : value,
    ]);
    await writeConfig(Object.fromEntries(settings));
    const refused = await run([...args, '--json'], { env: KEYS });
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.stdout).error).toMatchObject({
      errorType: 'configuration_error',
      message: expect.stringMatching(/citeloop\.config\.json .*Url/i),
      userMessage: expect.stringContaining('citeloop trust'),
    });
    expect(requests).toEqual([]);

    // With trust, a key of the environment is still not sent.
    for (const command of [[...args, '--trust'], ['doctor']]) {
      expect(await run(command, { env: KEYS })).toMatchObject({ code: 3 });
      expect(sent()).not.toContain('users-');
    }
    // Without a key there is nothing to hold back; Cohere is not called without one.
    if (!('cohereBaseUrl' in fields)) {
      await run([...args]);
      expect(requests.length).toBeGreaterThan(0);
    }
  },
);

test('the key and the address of an environment belong together, and so do those of a trusted .env', async () => {
  const { origin, requests } = await startListener();
  await writeConfig({ model: 'm' });
  await run(['ask', 'Why?'], { env: { ...KEYS, OPENAI_BASE_URL: `${origin}/v1` } });
  expect(requests.at(-1)?.authorization).toBe('Bearer users-openai-key');
  await run(['ask', 'Why?', '--base-url', `${origin}/v1`], { env: KEYS });
  expect(requests).toHaveLength(2);

  await writeFile(join(cwd, '.env'), `OPENAI_BASE_URL=${origin}/v1\nOPENAI_API_KEY=of-the-project\n`);
  expect(await run(['ask', 'Why?'], { env: KEYS })).toMatchObject({ code: 3 });
  expect(requests).toHaveLength(2);
  expect(await run(['trust'])).toMatchObject({ code: 0 });
  await run(['ask', 'Why?'], { env: KEYS });
  expect(requests.at(-1)?.authorization).toBe('Bearer of-the-project');
});

test('a key in .env needs trust only when it is sent', async () => {
  const { origin, requests } = await startListener();
  await writeConfig({});
  await writeFile(join(cwd, '.env'), 'OPENAI_API_KEY=of-the-project\n');
  expect(await run(['ask', 'What is ROS 2?'])).toMatchObject({ code: 0 });
  const hosted = ['ask', 'Why?', '--model', 'm', '--base-url', `${origin}/v1`];
  expect(await run(hosted)).toMatchObject({ code: 3, stderr: expect.stringContaining('OPENAI_API_KEY') });
  expect(requests).toEqual([]);
  await run([...hosted, '--trust']);
  expect(requests.at(-1)?.authorization).toBe('Bearer of-the-project');
});

test('native code of a project is not loaded, not even with trust', async () => {
  const { directory } = modelLocation();
  const models = join(cwd, 'm');
  await cp(directory, models, { recursive: true });
  const engine = (await readdir(models)).find(
    (name) => name.startsWith('onnxruntime-') && !name.includes('.checked'),
  );
  await appendFile(join(models, engine ?? '', 'onnxruntime_binding.node'), 'changed');
  await writeFile(join(cwd, 'a.md'), '# A\n\nSome text.\n');
  for (const [file, text] of [
    ['citeloop.config.json', '{"modelDir": "./m"}'],
    ['.env', 'CITELOOP_MODEL_DIR=./m\n'],
  ] as const) {
    await writeFile(join(cwd, file), text);
    const program = (...args: string[]) =>
      runCli(args, { home, cwd, nodeFlags: withoutVariable('CITELOOP_MODEL_DIR') });
    for (const args of [['ingest', 'a.md'], ['doctor']]) {
      expect(await program(...args)).toMatchObject({ code: 3, stderr: expect.stringContaining(file) });
    }
    expect(await program('ingest', 'a.md', '--trust')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('onnxruntime_binding.node'),
    });
    await rm(join(cwd, file));
  }
});

test('a data directory of a project is not written without trust', async () => {
  const outside = await createTemporaryDirectory();
  await writeFile(join(cwd, 'a.md'), '# A\n\nSome text.\n');
  await writeFile(join(cwd, '.env'), `CITELOOP_HOME=${outside}/data\n`);
  const nodeFlags = withoutVariable('CITELOOP_HOME');
  const env = { XDG_CONFIG_HOME: join(home, 'settings') };
  expect(await runCli(['ingest', 'a.md'], { home, cwd, env, nodeFlags })).toMatchObject({ code: 3 });
  expect(existsSync(join(outside, 'data'))).toBe(false);
  expect(await runCli(['ingest', 'a.md', '--trust'], { home, cwd, env, nodeFlags })).toMatchObject({
    code: 0,
  });
  expect(existsSync(join(outside, 'data', 'collections'))).toBe(true);
  // Neither settings nor trust are kept where `.env` says.
  expect(existsSync(join(home, 'settings', 'citeloop', 'trust.json'))).toBe(true);
  expect(await readdir(join(outside, 'data'))).not.toContain('trust.json');
});

test('a project may set what is harmless', async () => {
  await writeConfig({ topK: 1, policy: 'always', systemPrompt: 'Be brief.' });
  await writeFile(join(cwd, '.env'), 'AGENT_MAX_TURNS=3\nHTTP_PROXY=http://evil.test\nNODE_OPTIONS=--bad\n');
  expect(await run(['ask', 'What is ROS 2?'])).toMatchObject({ code: 0 });
});

test('trust is printed, listed, ended by a change and revoked', async () => {
  await writeConfig({ cohereBaseUrl: 'http://a.test' });
  const config = join(cwd, 'citeloop.config.json');
  const json = async (...args: string[]) => JSON.parse((await run(['trust', ...args, '--json'])).stdout);
  expect(await json('--list')).toEqual({ files: [] });
  expect(await json()).toEqual({
    trusted: [
      {
        path: config,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        sets: [{ name: 'cohereBaseUrl', value: 'http://a.test' }],
      },
    ],
  });
  expect(await json('--list')).toMatchObject({ files: [{ path: config, state: 'trusted' }] });
  expect(await run(['collections'])).toMatchObject({ code: 0 });
  await writeConfig({ cohereBaseUrl: 'http://b.test' });
  expect(await json('--list')).toMatchObject({ files: [{ path: config, state: 'changed' }] });
  expect(await run(['collections'])).toMatchObject({ code: 3 });
  expect(await run(['trust', cwd], { cwd: home })).toMatchObject({ code: 0 });
  expect(await run(['collections'])).toMatchObject({ code: 0 });
  expect(await json('--revoke')).toEqual({ revoked: [config] });
  expect(await json('--revoke')).toEqual({ revoked: [] });
  expect(await run(['collections'])).toMatchObject({ code: 3 });
  expect(await run(['trust', 'nowhere'])).toMatchObject({ code: 2 });
});

test('settings and completion work in a directory that is not trusted, without its settings', async () => {
  await writeConfig({ cohereBaseUrl: 'http://a.test', home: './data' });
  const { stdout } = await run(['config', '--json']);
  const { settings, untrusted } = JSON.parse(stdout);
  expect(untrusted).toEqual([expect.objectContaining({ name: 'cohereBaseUrl', value: 'http://a.test' })]);
  expect(settings.map(({ name }: { name: string }) => name)).not.toContain('cohereBaseUrl');
  expect(await run(['config', 'set', 'topK', '3'])).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(join(home, 'config.json'), 'utf8'))).toEqual({ topK: 3 });
  expect((await run(['--complete', 'ask', '--collection', ''])).stdout).toContain('sample_book');
  expect((await run(['--complete', 'tru'])).stdout).toMatch(/^trust\t/);
  expect((await run(['--complete', 'trust', '--r'])).stdout).toMatch(/^--revoke\t/);
});

test('a tape cannot choose the data directory of its replay', async () => {
  const tape = join(cwd, 'run.json');
  await run(['ask', 'What is ROS 2?', '--record', tape]);
  const recorded = JSON.parse(await readFile(tape, 'utf8'));
  recorded.origin = 'written by hand';
  recorded.inputs.settings.home = join(cwd, 'chosen');
  await writeFile(tape, JSON.stringify(recorded));
  expect(await run(['replay', tape])).toMatchObject({ code: 0 });
  expect(existsSync(join(cwd, 'chosen'))).toBe(false);
});

test('asks once on a terminal', { timeout: 120_000 }, async ({ skip }) => {
  if (!isShellAvailable('bash')) return skip();
  await writeConfig({ modelDir: modelLocation().directory });
  await mkdir(join(home, 'bin'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM_PATH}" "$@"\n`;
  await writeFile(join(home, 'bin', 'citeloop'), program, { mode: 0o755 });
  const { CITELOOP_MODEL_DIR: _, ...env } = createCliEnvironment(home);
  const { type, close } = openShell('bash', { ...env, PATH: `${join(home, 'bin')}:${env.PATH}` });
  onTestFinished(close);
  await type(`cd '${cwd}'; echo re''ady\n`, 'ready');
  const collections = "citeloop collections > /dev/null; echo code''=$?\n";
  expect(await type(collections, '[y/N]')).toContain('modelDir');
  expect(await type('n\n', 'code=')).toContain('code=3');
  await type(collections, '[y/N]');
  expect(await type('y\n', 'code=')).toContain('code=0');
  expect(await type(collections, 'code=')).not.toContain('[y/N]');
});
