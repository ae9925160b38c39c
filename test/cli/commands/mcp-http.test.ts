import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectHttp, textOf } from '../../server/mcp/connect-mcp.ts';
import { type Handbook, indexHandbook } from '../../server/mcp/handbook.ts';
import { type RunningProgram, runProgram, startProgram } from '../../server/start-program.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import {
  formatStreamEvent,
  neverRespond,
  startFaultyServer,
  startStream,
} from '../../support/faulty-server.ts';
import { runInProcess } from '../../support/run-in-process.ts';

const TOKEN = 'correct-horse-battery-staple';
const KEY = 'sk-test-0123456789abcdefghijklmnop';

let handbook: Handbook;
beforeAll(async () => {
  handbook = await indexHandbook();
});
let shared: Promise<RunningProgram> | undefined;
afterAll(async () => {
  await (await shared)?.stop();
  handbook.remove();
});

const serve = (args: string[] = [], env: Record<string, string> = {}) =>
  startProgram(['mcp', '--http', '--collection', 'handbook', ...args], { home: handbook.home, env });
/** A server that is shared by the tests that do not change it. */
const serveShared = () => {
  shared ??= runProgram(['mcp', '--http', '--collection', 'handbook'], { home: handbook.home });
  return shared;
};

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bare', version: '1' } },
};
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

/** A request with any headers; `fetch` does not allow to set Host. */
function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Reply> {
  const { method = 'POST', headers = JSON_HEADERS, body } = options;
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, async (response) => {
      let text = '';
      try {
        for await (const part of response) text += part;
      } catch {
        // A server that rejects a body may close the connection.
      }
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
    });
    request.on('error', reject);
    request.end(body ?? (method === 'POST' ? JSON.stringify(INITIALIZE) : undefined));
  });
}

test('serves tools and progress over HTTP to concurrent clients', async () => {
  const { ready, stop } = await serve();
  expect(new URL(ready.url).hostname).toBe('127.0.0.1');
  const [one, two] = await Promise.all([connectHttp(ready.url), connectHttp(ready.url)]);
  expect(one.transport.sessionId).toMatch(/^[\da-f-]{36}$/);
  expect(two.transport.sessionId).not.toBe(one.transport.sessionId);
  const heard: string[] = [];
  const [answer, found] = await Promise.all([
    one.client.callTool({ name: 'ask', arguments: { question: 'When is a laptop replaced?' } }, undefined, {
      onprogress: ({ message }) => heard.push(message ?? ''),
    }),
    two.client.callTool({ name: 'search_docs', arguments: { query: 'expenses' } }),
  ]);
  expect(answer.structuredContent).toMatchObject({ grounded: true });
  expect(heard).toContainEqual(expect.stringMatching(/^Searching for /));
  expect(textOf(found as CallToolResult)).toContain('fourteen days');
  const { code, stderr } = await stop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('rejects ended, unknown and missing sessions', async () => {
  const { ready } = await serveShared();
  const { client, transport } = await connectHttp(ready.url);
  const { sessionId = '' } = transport;
  await transport.terminateSession();
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
  const withSession = (id: string) => ({ headers: { ...JSON_HEADERS, 'mcp-session-id': id }, body: ping });
  expect(await send(ready.url, withSession(sessionId))).toMatchObject({ status: 404 });
  expect(await send(ready.url, withSession('11111111-1111-4111-8111-111111111111'))).toMatchObject({
    status: 404,
  });
  expect(await send(ready.url, { body: ping })).toMatchObject({ status: 400 });
  expect(await send(ready.url, { method: 'GET' })).toMatchObject({ status: 400 });
  expect(await send(ready.url, { method: 'DELETE' })).toMatchObject({ status: 400 });
  expect(await send(ready.url.replace('/mcp', '/'), {})).toMatchObject({ status: 404 });
  await client.close();
});

test('rejects foreign host names and origins (DNS rebinding)', async () => {
  const { ready } = await serveShared();
  const { port } = ready;
  const withHeaders = (headers: Record<string, string>) =>
    send(ready.url, { headers: { ...JSON_HEADERS, ...headers } });
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '0.0.0.0',
    '192.168.0.7',
  ]) {
    expect(await withHeaders({ host }), host).toMatchObject({ status: 403 });
  }
  for (const origin of [
    'https://evil.example',
    'null',
    `http://localhost:${port + 1}`,
    `https://127.0.0.1.evil.example`,
    'file://',
  ]) {
    expect(await withHeaders({ origin }), origin).toMatchObject({ status: 403 });
  }
  expect(await withHeaders({ 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    const reply = await send(ready.url, {
      method,
      headers: { ...JSON_HEADERS, origin: 'https://evil.example' },
    });
    expect(reply.status, method).toBe(403);
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
  }
  const own = await withHeaders({ host: `localhost:${port}`, origin: `http://localhost:${port}` });
  expect(own.status).toBe(200);
  expect(own.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
});

test('rejects form content types, large bodies and invalid JSON', async () => {
  const { ready } = await serveShared();
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    expect(await send(ready.url, { headers: { ...JSON_HEADERS, 'content-type': type } }), type).toMatchObject(
      {
        status: 415,
      },
    );
  }
  const large = JSON.stringify({ ...INITIALIZE, padding: 'x'.repeat(1_000_001) });
  expect(await send(ready.url, { body: large })).toMatchObject({ status: 413 });
  const chunked = { ...JSON_HEADERS, 'transfer-encoding': 'chunked' };
  expect(await send(ready.url, { headers: chunked, body: large })).toMatchObject({ status: 413 });
  expect(await send(ready.url, { body: '{' })).toMatchObject({ status: 400 });
  expect(await send(ready.url, { body: '['.repeat(100_000) })).toMatchObject({ status: 400 });
  await expect(connectHttp(ready.url)).resolves.toBeDefined();
});

test('requires the token, and prints it neither in logs nor in answers', async () => {
  const { ready, stop } = await serve(['--token', TOKEN, '--verbose']);
  const tokens = [undefined, '', 'wrong', TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase()];
  for (const token of tokens) {
    const headers = { ...JSON_HEADERS, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    for (const method of ['POST', 'GET', 'DELETE']) {
      const { status, headers: sent, body } = await send(ready.url, { method, headers });
      expect(status, `${method} ${token}`).toBe(401);
      expect(sent).toHaveProperty('www-authenticate');
      expect(body).not.toContain(TOKEN);
    }
  }
  expect(await send(`${ready.url}?token=${TOKEN}`)).toMatchObject({ status: 401 });
  const { client } = await connectHttp(ready.url, TOKEN);
  expect((await client.listTools()).tools).toHaveLength(3);
  await client.close();
  const { stdout, stderr } = await stop();
  expect(stderr).toContain('POST /mcp 401');
  expect(stdout + stderr).not.toContain(TOKEN);
});

test('a public address needs a token of sufficient length', async () => {
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await runInProcess(['mcp', '--http', '--port', '0', ...args], {
      home: handbook.home,
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };
  expect(await refused('--host', '0.0.0.0')).toContain('a token is required');
  expect(await refused('--host', '::')).toContain('a token is required');
  expect(await refused('--token', 'short')).toContain('at least 16');
  const { ready } = await serve(['--host', '0.0.0.0', '--token', TOKEN]);
  await expect(connectHttp(`http://127.0.0.1:${ready.port}/mcp`, TOKEN)).resolves.toBeDefined();
});

test('cancelling over HTTP ends the turn but not the session', async () => {
  const asked = Promise.withResolvers<void>();
  const givenUp = Promise.withResolvers<void>();
  const service = await startFaultyServer((request, response) => {
    response.on('close', () => givenUp.resolve());
    asked.resolve();
    neverRespond(request, response);
  });
  const { ready } = await serve(['--model', 'silent', '--base-url', service.baseUrl], {
    OPENAI_API_KEY: KEY,
  });
  const { client } = await connectHttp(ready.url);
  const controller = new AbortController();
  const question = client.callTool({ name: 'ask', arguments: { question: 'What?' } }, undefined, {
    signal: controller.signal,
  });
  const refused = expect(question).rejects.toThrow();
  await asked.promise;
  controller.abort('enough');
  await refused;
  await givenUp.promise;
  expect(
    (await client.callTool({ name: 'search_docs', arguments: { query: 'laptop' } })).isError,
  ).toBeFalsy();
});

test('a stopping server finishes running calls', async () => {
  const begun = Promise.withResolvers<() => void>();
  const service = await startFaultyServer(
    startStream(['The answer '], (response) =>
      begun.resolve(() => {
        const finish = { choices: [{ index: 0, delta: { content: 'is late.' }, finish_reason: 'stop' }] };
        response.end(formatStreamEvent(finish));
      }),
    ),
  );
  const { ready, stop } = await serve(
    ['--model', 'slow', '--base-url', service.baseUrl, '--policy', 'never'],
    {
      OPENAI_API_KEY: KEY,
    },
  );
  const { client } = await connectHttp(ready.url);
  const question = client.callTool({ name: 'ask', arguments: { question: 'What?' } });
  const finish = await begun.promise;
  const stopped = stop();
  const accepts = () =>
    send(ready.url).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (await accepts()) await delay(20);
  finish();
  expect((await question).structuredContent).toMatchObject({ answer: 'The answer is late.' });
  expect((await stopped).code).toBe(0);
});

test.for([
  ...['server-initialize', 'server-session-lifecycle', 'ping', 'tools-list'].map(
    (scenario) => ['2025-11-25', scenario] as const,
  ),
  ['2025-11-25', 'server-sse-multiple-streams'],
  ['2025-11-25', 'dns-rebinding-protection'],
  ...['server-stateless', 'tools-list', 'caching'].map((scenario) => ['2026-07-28', scenario] as const),
  ...['http-header-validation', 'dns-rebinding-protection', 'server-sse-multiple-streams'].map(
    (scenario) => ['2026-07-28', scenario] as const,
  ),
] as const)('passes the MCP conformance suite of %s: %s', async ([version, scenario]) => {
  const { ready } = await serveShared();
  const program = join(
    import.meta.dirname,
    '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
  );
  const { stdout } = await endWithParent(
    promisify(execFile)(process.execPath, [
      program,
      ...['server', '--url', ready.url, '--scenario', scenario, '--spec-version', version],
    ]),
  ).catch((failure: { stdout: string }) => failure);
  const [, total = 0, failed = 0] = (/Passed: \d+\/(\d+), (\d+) failed, 0 warnings/.exec(stdout) ?? []).map(
    Number,
  );
  expect(total).toBeGreaterThan(0);
  // The suite asks for tools of a test server, and for prompts and resources.
  const errors = stdout.match(/^ {4}Error: .*$/gm) ?? [];
  const unsupported =
    /Not testable: server does not list|(prompts|resources|resources\/templates)\/list returned JSON-RPC error -32601/;
  expect(errors.filter((error) => !unsupported.test(error))).toEqual([]);
  expect(failed).toBe(errors.length);
});
