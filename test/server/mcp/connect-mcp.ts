import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { type CallLimiter, createCallLimiter } from '../../../src/server/mcp/call-limiter.ts';
import { createMcpServers } from '../../../src/server/mcp/create-mcp-servers.ts';
import type { McpLibrary } from '../../../src/server/mcp/mcp-library.ts';
import { createCliEnvironment, PROGRAM_PATH } from '../../support/run-cli.ts';

const newClient = () => new Client({ name: `test ${randomUUID()}`, version: '1.0.0' });

export interface StdioConnection {
  client: Client;
  stderr: () => string;
}

/** Connects the SDK's client to a process of the built program over stdio, until the test ends. */
export async function connectStdio(
  args: readonly string[],
  place: { home: string; env?: Record<string, string> },
): Promise<StdioConnection> {
  const connection = await startStdio(args, place);
  onTestFinished(() => connection.client.close());
  return connection;
}

/** The same, closed by the caller. */
export async function startStdio(
  args: readonly string[],
  { home, env = {} }: { home: string; env?: Record<string, string> },
): Promise<StdioConnection> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM_PATH, 'mcp', ...args],
    cwd: home,
    env: createCliEnvironment(home, env),
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (part: Buffer) => {
    stderr += part.toString('utf8');
  });
  const client = newClient();
  await client.connect(transport);
  return { client, stderr: () => stderr };
}

export interface HttpConnection {
  client: Client;
  transport: StreamableHTTPClientTransport;
}

/** Connects the SDK's client to a running HTTP server. */
export async function connectHttp(url: string, token?: string): Promise<HttpConnection> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
  });
  const client = newClient();
  onTestFinished(() => client.close());
  // The SDK's types disagree about undefined.
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return { client, transport };
}

/** Connects the SDK's client to a server in this process. */
export async function connectInMemory(
  library: McpLibrary,
  {
    tracker = createCallLimiter(16),
    onError = () => {},
  }: { tracker?: CallLimiter; onError?: (m: string) => void } = {},
): Promise<Client> {
  const server = createMcpServers({ library, tracker, version: '0.0.0', onError })();
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = newClient();
  onTestFinished(() => client.close());
  await server.connect(theirs);
  await client.connect(ours);
  return client;
}

export function textOf(result: unknown): string {
  const { content } = CallToolResultSchema.parse(result);
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
