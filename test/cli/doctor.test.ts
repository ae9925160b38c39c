import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Check {
  name: string;
  ok: boolean;
  detail: string;
  fix: string | null;
}

async function doctor(env: Record<string, string> = {}) {
  const result = await runCli(['doctor', '--json'], { home: await temporaryDirectory(), env });
  const { ok, checks } = JSON.parse(result.stdout) as { ok: boolean; checks: Check[] };
  return { ...result, ok, check: (name: string) => checks.find((check) => check.name === name), checks };
}

/** A service that takes one key, in the header named. */
async function service(header: string, accepted: string): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.headers[header] === accepted ? 200 : 401).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('on a sound machine every check passes', async () => {
  const { code, ok, checks } = await doctor();
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(checks.map(({ name }) => name)).toEqual([
    'node',
    'data directory',
    'embedding model',
    'embedder',
    'store',
  ]);
});

test('a missing model is named with what to do', async () => {
  const { code, check } = await doctor({ CITELOOP_MODEL_DIR: '/nowhere' });
  expect(code).toBe(3);
  expect(check('embedding model')).toMatchObject({
    ok: false,
    fix: expect.stringContaining('CITELOOP_MODEL_DIR'),
  });
});

test('services that answer and take the key are fine', async () => {
  const { check } = await doctor({
    QDRANT_URL: await service('api-key', 'q-key'),
    QDRANT_API_KEY: 'q-key',
    OPENAI_BASE_URL: `${await service('authorization', 'Bearer o-key')}/v1`,
    OPENAI_API_KEY: 'o-key',
  });
  expect(check('qdrant')).toMatchObject({ ok: true });
  expect(check('model service')).toMatchObject({ ok: true });
});

test('a refused key is told apart from a service that is not there, and no key is printed', async () => {
  const { code, check, stdout, stderr } = await doctor({
    QDRANT_URL: 'http://127.0.0.1:9',
    QDRANT_API_KEY: 'q-secret-key',
    OPENAI_BASE_URL: await service('authorization', 'Bearer right'),
    OPENAI_API_KEY: 'o-secret-key',
  });
  expect(code).toBe(3);
  expect(check('qdrant')).toMatchObject({ ok: false, detail: expect.stringContaining('cannot be reached') });
  expect(check('model service')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('refuses the key'),
  });
  expect(stdout + stderr).not.toMatch(/secret-key/);
});
