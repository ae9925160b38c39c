import { once } from 'node:events';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallTracker } from './call-tracker.ts';

/** Clients that close stdin wait for about two seconds before they end the process themselves. */
const DRAIN_MS = 1_000;
const MAX_MESSAGE_BYTES = 4_000_000;

interface StdioOptions {
  tracker: CallTracker;
  signal: AbortSignal;
  streams: Pick<NodeJS.Process, 'stdin' | 'stdout'>;
}

/** Serves the one client that started the process, until it closes stdin or the signal is raised. */
export async function serveStdio(
  server: McpServer,
  { tracker, signal, streams: { stdin, stdout } }: StdioOptions,
): Promise<void> {
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const closed = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
  });
  const ended = Promise.race([
    once(stdin, 'end').catch(() => {}),
    once(stdin, 'close').catch(() => {}),
    ...(signal.aborted ? [Promise.resolve()] : [once(signal, 'abort')]),
    closed,
  ]);
  await server.connect(transport);
  await ended;
  if (!signal.aborted) await tracker.drain(DRAIN_MS);
  await server.close();
  stdin.destroy();
}
