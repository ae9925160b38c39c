import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemRuntime } from '../../../src/app/system-runtime.ts';
import {
  neverRespond,
  resetConnection,
  respondWithJson,
  respondWithStatus,
} from '../../support/faulty-server.ts';
import {
  EMBEDDING_DIMENSIONS,
  type HostedServices,
  SERVICE_KEYS,
  startHostedServices,
} from '../../support/hosted-services.ts';
import { type CliOptions, type CliResult, runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';

const QUESTION = 'When does an owl hunt?';
/** Services often quote the request in their errors. */
const QUOTING = JSON.stringify({
  error: { message: `no luck for ${Object.values(SERVICE_KEYS).join(', ')}` },
});

/** A home directory; tests create collections as needed. */
const home = mkdtempSync(join(tmpdir(), 'citeloop-faults-'));
const LEXICAL = ['--mode', 'lexical', '--collection', 'owls'];

async function run(
  args: string[],
  env: Record<string, string>,
  start: (args: string[], options: CliOptions) => Promise<CliResult> = runInProcess,
): Promise<CliResult> {
  const result = await start(args, { home, env });
  expect(result.stdout + result.stderr).not.toMatch(/planted/);
  return result;
}

/** The output as text and as JSON with --verbose, checked for keys. */
async function runAndCheckKeys(args: string[], env: Record<string, string>) {
  const asText = await run([...args, '--verbose'], {
    COHERE_API_KEY: SERVICE_KEYS.cohere,
    EMBEDDING_API_KEY: SERVICE_KEYS.embedding,
    ...env,
  });
  const asJson = await run([...args, '--json'], env);
  expect(asJson.code).toBe(asText.code);
  const { error } = JSON.parse(asJson.stdout);
  expect(asText.stderr).toContain(error.message);
  return { code: asText.code, error };
}

// Retries do not wait, except in the test of waiting.
beforeAll(() => {
  systemRuntime.sleep = async () => undefined;
});
afterAll(() => {
  delete systemRuntime.sleep;
});

beforeAll(async () => {
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs', 'owl.md'), '# Owls\n\nAn owl does hunt at night. It sees well.');
  expect((await run(['ingest', 'docs', '--collection', 'owls'], {})).code).toBe(0);
}, 120_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Fault {
  name: string;
  answer?: RequestListener;
  key?: string;
  model?: string;
  code: number;
  type: string;
  message: RegExp;
  advice: RegExp;
}

const modelFaults: Fault[] = [
  {
    name: 'resets',
    answer: resetConnection,
    code: 5,
    type: 'api_error',
    message: /closed the connection|ECONNRESET/i,
    advice: /base-url|running|network|again/i,
  },
  {
    name: '500',
    answer: respondWithStatus(500, QUOTING),
    code: 5,
    type: 'api_error',
    message: /500|failed/,
    advice: /again|doctor/,
  },
  {
    name: '429 for an hour',
    answer: respondWithStatus(429, QUOTING, { 'retry-after': '3600' }),
    code: 5,
    type: 'rate_limit',
    message: /too many requests|limit/i,
    advice: /3600|hour|minutes/,
  },
  {
    name: 'invalid JSON',
    answer: respondWithJson('{"choices": ['),
    code: 5,
    type: 'api_error',
    message: /JSON|cannot be used|answer/,
    advice: /again|doctor/,
  },
  {
    name: 'a wrong key',
    key: 'sk-planted-wrong-key-000',
    code: 3,
    type: 'auth_error',
    message: /did not accept the key/,
    advice: /OPENAI_API_KEY/,
  },
  {
    name: 'an unknown model',
    model: 'no-such-model',
    code: 3,
    type: 'configuration_error',
    message: /no-such-model/,
    advice: /model|name/,
  },
];

test.for(modelFaults)(
  'a model service: $name',
  async ({ answer, key, model = 'some-model', ...expected }) => {
    const services = await startHostedServices();
    if (answer !== undefined) services.respondWith('/v1/chat/completions', answer);
    const env = { OPENAI_API_KEY: key ?? SERVICE_KEYS.model };
    const { code, error } = await runAndCheckKeys(
      ['ask', QUESTION, ...LEXICAL, '--model', model, '--base-url', services.baseUrl],
      env,
    );
    expect({ code, type: error.errorType }).toEqual({ code: expected.code, type: expected.type });
    expect(error.message).toMatch(expected.message);
    expect(error.userMessage).toMatch(expected.advice);
  },
);

test('a failed run replays to the same failure and exit code', async () => {
  const services = await startHostedServices();
  const to = (baseUrl: string) => [
    'ask',
    QUESTION,
    ...LEXICAL,
    '--model',
    'some-model',
    '--base-url',
    baseUrl,
  ];
  const hosted = ['--embedder', 'openai', '--embedding-model', 'words', '--embedding-dimensions', '4'];
  const runs: Array<[name: string, code: number, args: string[], answer?: RequestListener]> = [
    ['refused', 5, to('http://127.0.0.1:9/v1')],
    ['quoting', 3, to(services.baseUrl), respondWithStatus(401, QUOTING)],
    ['failing', 5, [...to(services.baseUrl), '--json', '--stream'], respondWithStatus(500, QUOTING)],
    ['ungrounded', 6, ['ask', 'Who wrote Hamlet?', ...LEXICAL, '--require-grounded']],
    // It fails before the turn starts.
    [
      'search',
      3,
      ['ingest', 'docs', ...hosted, '--embedding-base-url', services.baseUrl, '--collection', 'no'],
    ],
  ];
  for (const [name, code, args, answer] of runs) {
    if (answer !== undefined) services.respondWith('/v1/chat/completions', answer);
    const tape = `${name}.tape.json`;
    const env = { OPENAI_API_KEY: SERVICE_KEYS.model, EMBEDDING_API_KEY: 'sk-planted-wrong-key-000' };
    const recorded = await run([...args, '--record', tape], env);
    expect([name, recorded.code]).toEqual([name, code]);
    const again = await run([...args, '--replay', tape], {});
    expect({ code: again.code, failure: failureIn(again) }).toEqual({ code, failure: failureIn(recorded) });
    const replayed = await run(['replay', tape], {});
    expect([name, replayed]).toMatchObject([name, { code: 0, stdout: expect.stringContaining('same') }]);
    if (code !== 6) expect(replayed.stdout).toContain('The run fails as recorded: ');
  }
});

/** The last messages of a run, without times. */
function failureIn({ stdout, stderr }: CliResult): string | undefined {
  const said = /^citeloop: .*/ms.exec(stderr)?.[0];
  const { error } = said === undefined ? JSON.parse(stdout.trim().split('\n').at(-1) ?? '') : {};
  return said ?? error.message;
}

test('waits as long as the model service asks, and prints a notice', async () => {
  const services = await startHostedServices();
  const busy = respondWithStatus(429, QUOTING, { 'retry-after': '1' });
  services.respondWith('/v1/chat/completions', busy, undefined);
  const flags = ['--model', 'some-model', '--base-url', services.baseUrl, ...LEXICAL];
  const env = { OPENAI_API_KEY: SERVICE_KEYS.model };
  const patient = await run(['ask', QUESTION, ...flags], env, runCli);
  expect(patient).toMatchObject({ code: 0, stderr: expect.stringContaining('Retrying in 1 s') });
  expect(patient.stdout).toContain('An owl does hunt at night');
});

test('Ctrl-C stops waiting for a silent service', async () => {
  const services = await startHostedServices();
  services.respondWith('/v1/chat/completions', neverRespond);
  const flags = ['--model', 'some-model', '--base-url', services.baseUrl, ...LEXICAL];
  const env = { OPENAI_API_KEY: SERVICE_KEYS.model };
  const { code } = await run(['ask', QUESTION, ...flags], env, (args, options) =>
    runCli(args, {
      ...options,
      async onStart(child) {
        await expect.poll(() => services.requests).not.toEqual([]);
        await delay(100);
        child.kill('SIGINT');
      },
    }),
  );
  expect(code).toBe(130);
});

const wrongLength = respondWithJson(
  JSON.stringify({ data: [{ index: 0, embedding: [1, 2, 3] }], embeddings: { float: [[1, 2, 3]] }, id: 'x' }),
);
const embedderFaults: Fault[] = [
  {
    name: 'resets',
    answer: resetConnection,
    code: 5,
    type: 'api_error',
    message: /closed the connection too early/,
    advice: /base URL/,
  },
  {
    name: '500',
    answer: respondWithStatus(500, QUOTING),
    code: 5,
    type: 'api_error',
    message: /failed \(500\)/,
    advice: /Try again/,
  },
  {
    name: '429 for an hour',
    answer: respondWithStatus(429, QUOTING, { 'retry-after': '3600' }),
    code: 5,
    type: 'rate_limit',
    message: /too many requests/,
    advice: /3600 seconds/,
  },
  {
    name: 'invalid JSON',
    answer: respondWithJson('{"data": ['),
    code: 5,
    type: 'api_error',
    message: /cannot be used/,
    advice: /again|doctor|Check/,
  },
  {
    name: 'a wrong dimension',
    answer: wrongLength,
    code: 5,
    type: 'api_error',
    message: /3 dimensions instead of \d+/,
    advice: /model|doctor/,
  },
  {
    name: 'a wrong key',
    key: 'sk-planted-wrong-key-000',
    code: 3,
    type: 'auth_error',
    message: /did not accept the key/,
    advice: /Check (EMBEDDING|COHERE)_API_KEY/,
  },
];

const embedders = [
  {
    name: 'openai',
    path: '/v1/embeddings',
    keyVariable: 'EMBEDDING_API_KEY',
    key: SERVICE_KEYS.embedding,
    flags: ({ baseUrl }: HostedServices) => [
      '--embedder',
      'openai',
      '--embedding-base-url',
      baseUrl,
      '--embedding-model',
      'words',
      '--embedding-dimensions',
      String(EMBEDDING_DIMENSIONS),
    ],
  },
  {
    name: 'cohere',
    path: '/v2/embed',
    keyVariable: 'COHERE_API_KEY',
    key: SERVICE_KEYS.cohere,
    flags: () => ['--embedder', 'cohere'],
  },
];

test.for(
  embedders.flatMap((embedder) =>
    embedderFaults.map((fault) => ({ title: `${embedder.name}: ${fault.name}`, embedder, fault })),
  ),
)('an embedding service, $title, in search and in a tool call', async ({ embedder, fault }) => {
  const services = await startHostedServices();
  const collection = ['--collection', `faults_${embedder.name}_${services.cohereUrl.split(':').at(-1)}`];
  const flags = [...embedder.flags(services), ...collection];
  const env = { COHERE_BASE_URL: services.cohereUrl, [embedder.keyVariable]: embedder.key };
  expect((await run(['ingest', 'docs', ...flags], env)).code).toBe(0);

  if (fault.answer !== undefined) services.respondWith(embedder.path, fault.answer);
  const faulty = { ...env, [embedder.keyVariable]: fault.key ?? embedder.key };
  const { code, error } = await runAndCheckKeys(['search', QUESTION, ...flags], faulty);
  expect({ code, type: error.errorType }).toEqual({ code: fault.code, type: fault.type });
  expect(error.message).toMatch(fault.message);
  expect(error.userMessage).toMatch(fault.advice);

  const asked = await run(['ask', QUESTION, '--json', ...flags], faulty);
  expect(asked.code).toBe(fault.code);
  expect(JSON.parse(asked.stdout).error).toMatchObject({ errorType: fault.type, message: error.message });
});

test('ingest reports an unavailable embedding service once and continues when it is back', async () => {
  const services = await startHostedServices();
  services.respondWith('/v1/embeddings', respondWithStatus(500, QUOTING));
  const flags = ['--embedder', 'openai', '--embedding-base-url', services.baseUrl, '--collection', 'later'];
  const env = { EMBEDDING_API_KEY: SERVICE_KEYS.embedding, EMBEDDING_MODEL: 'words' };
  const { code, error } = await runAndCheckKeys(['ingest', 'docs', ...flags], env);
  expect({ code, type: error.errorType }).toEqual({ code: 5, type: 'api_error' });
  services.respondWith('/v1/embeddings', undefined);
  expect(JSON.parse((await run(['ingest', 'docs', '--json', ...flags], env)).stdout)).toMatchObject({
    added: 1,
  });
});

test('an unknown embedding model is a configuration error', async () => {
  const services = await startHostedServices();
  const flags = [
    '--embedder',
    'openai',
    '--embedding-base-url',
    services.baseUrl,
    '--embedding-model',
    'no-such-model',
  ];
  const { code, error } = await runAndCheckKeys(['ingest', 'docs', ...flags, '--collection', 'never'], {
    EMBEDDING_API_KEY: SERVICE_KEYS.embedding,
  });
  expect({ code, type: error.errorType }).toEqual({ code: 3, type: 'configuration_error' });
  expect(error.message).toContain('no-such-model');
  const unknown = await run(['ingest', 'docs', '--embedder', 'cohere', '--embedding-model', 'embed-v9'], {});
  expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('embed-v4.0') });
});

test('a server without a model is an error that lists the models of the server', async () => {
  const services = await startHostedServices();
  services.respondWith('/v1/models', respondWithJson('{"data": [{"id": "owl-7b"}]}'));
  const { code, error } = await runAndCheckKeys(
    ['ask', QUESTION, '--base-url', services.baseUrl, ...LEXICAL],
    {},
  );
  expect({ code, type: error.errorType }).toEqual({ code: 3, type: 'configuration_error' });
  expect(error.userMessage).toContain('owl-7b');
  const other = await run(['ask', QUESTION, ...LEXICAL], { OPENAI_BASE_URL: services.baseUrl });
  expect(other.code).toBe(0);
});
