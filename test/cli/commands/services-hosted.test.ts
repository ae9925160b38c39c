import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { respondWithStatus } from '../../support/faulty-server.ts';
import { type HostedServices, SERVICE_KEYS, startHostedServices } from '../../support/hosted-services.ts';
import type { CliResult } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const MODEL_ENV = { OPENAI_API_KEY: SERVICE_KEYS.model };
const EMBEDDING_ENV = { EMBEDDING_API_KEY: SERVICE_KEYS.embedding };
const QUESTION = 'When does an owl hunt?';

/** A home directory with two documents; no output may contain a key. */
async function machine(env: Record<string, string>) {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs'));
  await writeFile(join(home, 'docs', 'owl.md'), '# Owls\n\nAn owl does hunt at night. It sees well.');
  await writeFile(join(home, 'docs', 'zebra.md'), '# Zebras\n\nA zebra has stripes and eats grass all day.');
  return async (...args: string[]): Promise<CliResult> => {
    const result = await runInProcess(args, { home, env });
    expect(result.stdout + result.stderr).not.toMatch(/planted/);
    return result;
  };
}

/** Flags of an embedder on a local server. */
function embeddings({ baseUrl }: HostedServices): string[] {
  return ['--embedder', 'openai', '--embedding-base-url', baseUrl, '--embedding-model', 'words'];
}

function sent(services: HostedServices, path: string) {
  return services.requests.filter((request) => request.path === path);
}

test('OpenAI-compatible embeddings: documents are embedded once, and a question finds them', async () => {
  const services = await startHostedServices();
  const run = await machine(EMBEDDING_ENV);
  const flags = embeddings(services);
  const ingested = await run('ingest', 'docs', '--json', ...flags);
  expect(ingested.code).toBe(0);
  expect(JSON.parse(ingested.stdout)).toMatchObject({ added: 2, embeddedChunks: 2, failed: [] });
  expect(
    services.requests.every(({ authorization }) => authorization === `Bearer ${SERVICE_KEYS.embedding}`),
  ).toBe(true);
  const calls = services.requests.length;
  expect(JSON.parse((await run('ingest', 'docs', '--json', ...flags)).stdout)).toMatchObject({
    unchanged: 2,
  });
  expect(services.requests.length - calls).toBeLessThanOrEqual(1);

  const asked = await run('ask', QUESTION, '--json', ...flags);
  expect(asked.code).toBe(0);
  expect(JSON.parse(asked.stdout)).toMatchObject({ grounded: true, error: null });
  const [collection] = JSON.parse((await run('collections', '--json', ...flags)).stdout).collections;
  expect(collection).toMatchObject({ dimensions: 256, embedder: expect.stringMatching(/^openai:words@/) });
});

test('rejects a collection of another embedder', async () => {
  const services = await startHostedServices();
  const run = await machine({
    ...EMBEDDING_ENV,
    COHERE_API_KEY: SERVICE_KEYS.cohere,
    COHERE_BASE_URL: services.cohereUrl,
  });
  await run('ingest', 'docs', ...embeddings(services));
  const result = await run('ask', QUESTION, '--embedder', 'cohere');
  expect(result.code).toBe(3);
  expect(result.stderr).toMatch(/openai:words@.*cohere:embed-v4\.0/s);
});

test('Cohere: embeds documents and questions differently, and reranks hits', async () => {
  const services = await startHostedServices();
  const run = await machine({ COHERE_API_KEY: SERVICE_KEYS.cohere, COHERE_BASE_URL: services.cohereUrl });
  expect(await run('ingest', 'docs', '--embedder', 'cohere')).toMatchObject({ code: 0 });
  const found = await run(
    'search',
    QUESTION,
    '--embedder',
    'cohere',
    '--rerank',
    'cohere',
    '--json',
    '--explain',
  );
  expect(found.code).toBe(0);
  const { chunks, notes, explain } = JSON.parse(found.stdout);
  expect(chunks[0].title).toBe('Owls');
  expect(notes).toEqual([]);
  expect(explain[0].rerankScore).toBe(chunks[0].score);
  expect(sent(services, '/v2/embed').map(({ body }) => body.input_type)).toEqual([
    'search_document',
    'search_query',
  ]);
  // The newest model is tried first; the account only has an older one.
  expect(sent(services, '/v2/rerank').map(({ body }) => body.model)).toContain('rerank-v3.5');
});

test('if reranking fails, hits keep their order and a note is printed', async () => {
  const services = await startHostedServices();
  const run = await machine({ COHERE_API_KEY: SERVICE_KEYS.cohere, COHERE_BASE_URL: services.cohereUrl });
  services.respondWith(
    '/v2/rerank',
    respondWithStatus(400, JSON.stringify({ message: `no such thing for ${SERVICE_KEYS.cohere}` })),
  );
  await run('ingest', 'docs');
  const asJson = await run('search', QUESTION, '--rerank', 'cohere', '--json', '--verbose');
  expect(asJson.code).toBe(0);
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    chunks: [{ title: 'Owls' }],
    notes: [expect.stringMatching(/^The results were not reranked\. Cohere did not accept the request/)],
  });
  expect((await run('search', QUESTION, '--rerank', 'cohere')).stdout).toContain(
    'The results were not reranked.',
  );
  const asked = await run('ask', QUESTION, '--rerank', 'cohere');
  expect(asked).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Note: The results were not reranked.'),
  });
  const doctor = await run('doctor', '--rerank', 'cohere', '--json');
  expect(doctor.code).toBe(3);
  expect(JSON.parse(doctor.stdout).checks).toContainEqual(
    expect.objectContaining({ name: 'reranker', ok: false }),
  );
});

test('reranking without a key fails before anything is indexed or searched', async () => {
  const run = await machine({});
  const result = await run('search', QUESTION, '--rerank', 'cohere');
  expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining('COHERE_API_KEY') });
  expect(result.stderr).not.toContain('sample book');
});

test.each(['chat_completions', 'responses'])(
  'a model with --base-url and %s searches and cites',
  async (api) => {
    const services = await startHostedServices();
    const run = await machine(MODEL_ENV);
    await run('ingest', 'docs');
    const flags = ['--model', 'some-model', '--base-url', services.baseUrl, '--api', api];
    for (const streaming of [[], ['--no-stream']]) {
      const asked = await run('ask', QUESTION, '--json', ...flags, ...streaming);
      expect(asked.code).toBe(0);
      expect(JSON.parse(asked.stdout)).toMatchObject({
        answer: expect.stringContaining('An owl does hunt at night'),
        grounded: true,
        model: 'some-model',
        tokensUsed: { total: 100 },
      });
    }
    expect((await run('ask', QUESTION, ...flags)).stdout).toMatch(
      /\[1\] Owls, line 3 .*owl\.md\n1 citation, with evidence/,
    );

    const { code, stdout } = await run('doctor', '--json', ...flags);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).checks).toContainEqual({
      name: 'model',
      ok: true,
      detail: expect.stringContaining(`(${api}): calls tools, streams, reports usage`),
      fix: null,
    });
  },
);

test('doctor reports missing abilities of a model with a fix', async () => {
  const run = await machine(MODEL_ENV);
  const model = async (services: HostedServices) => {
    const { code, stdout } = await run('doctor', '--json', '--model', 'm', '--base-url', services.baseUrl);
    return { code, ...JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'model') };
  };
  expect(await model(await startHostedServices({ tools: false }))).toMatchObject({
    code: 3,
    ok: false,
    detail: expect.stringContaining('did not call the test tool'),
    fix: expect.stringContaining('--policy always'),
  });
  expect(await model(await startHostedServices({ usage: false, streaming: false }))).toMatchObject({
    code: 0,
    ok: true,
    detail: expect.stringContaining('calls tools, does not stream, does not report usage'),
  });
});

test('each key is sent only to its own service', async () => {
  const [model, embedding, cohere] = [
    await startHostedServices(),
    await startHostedServices(),
    await startHostedServices(),
  ];
  const run = await machine({
    ...MODEL_ENV,
    ...EMBEDDING_ENV,
    COHERE_API_KEY: SERVICE_KEYS.cohere,
    COHERE_BASE_URL: cohere.cohereUrl,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: 'some-model',
  });
  await run('ingest', 'docs', ...embeddings(embedding));
  const asked = await run('ask', QUESTION, '--rerank', 'cohere', '--json', ...embeddings(embedding));
  expect(JSON.parse(asked.stdout)).toMatchObject({ grounded: true });
  const keysAt = ({ requests }: HostedServices) => [
    ...new Set(requests.map(({ authorization }) => authorization)),
  ];
  expect(keysAt(model)).toEqual([`Bearer ${SERVICE_KEYS.model}`]);
  expect(keysAt(embedding)).toEqual([`Bearer ${SERVICE_KEYS.embedding}`]);
  expect(keysAt(cohere)).toEqual([`Bearer ${SERVICE_KEYS.cohere}`]);
});
