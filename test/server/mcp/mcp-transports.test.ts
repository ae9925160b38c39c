import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createCallLimiter } from '../../../src/server/mcp/call-limiter.ts';
import { createMcpServers } from '../../../src/server/mcp/create-mcp-servers.ts';
import { createMcpSessions } from '../../../src/server/mcp/mcp-transports.ts';
import { mcpLibrary } from './small-mcp-library.ts';

async function openSessions(maxSessions: number) {
  const { library } = await mcpLibrary({ 'm/One': 'Text.' });
  const createServer = createMcpServers({
    library,
    tracker: createCallLimiter(8),
    version: '0.0.0',
    onError: () => {},
  });
  const sessions = createMcpSessions({ createServer, newId: randomUUID, maxSessions, maxBodyBytes: 10_000 });
  onTestFinished(() => sessions.close());
  const post = (message: object, sessionId?: string) =>
    sessions.handle(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      }),
    );
  return {
    sessions,
    post,
    async begin(): Promise<string> {
      const clientInfo = { name: 'test', version: '1' };
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
      const response = await post({ method: 'initialize', params });
      await response.text();
      return response.headers.get('mcp-session-id') ?? '';
    },
    async ping(sessionId: string): Promise<number> {
      const response = await post({ method: 'ping' }, sessionId);
      await response.text();
      return response.status;
    },
  };
}

test('closes the least recently used session over the limit', async () => {
  const { sessions, begin, ping } = await openSessions(2);
  const first = await begin();
  const second = await begin();
  expect(await ping(first)).toBe(200);
  const third = await begin();
  expect(sessions.size).toBe(2);
  expect(await Promise.all([ping(first), ping(second), ping(third)])).toEqual([200, 404, 200]);
});

test('creates no session without initialize', async () => {
  const { sessions, post } = await openSessions(2);
  expect((await post({ method: 'tools/list' })).status).toBe(400);
  await expect(post({ method: 'initialize', params: 'x'.repeat(20_000) })).rejects.toMatchObject({
    status: 413,
  });
  expect(sessions.size).toBe(0);
});

test('forgets closed sessions and refuses new ones while stopping', async () => {
  const { sessions, begin, ping, post } = await openSessions(4);
  const id = await begin();
  sessions.refuseNew();
  expect(await ping(id)).toBe(200);
  expect((await post({ method: 'initialize' })).status).toBe(503);
  await sessions.close();
  expect(await ping(id)).toBe(404);
  expect(sessions.size).toBe(0);
});
