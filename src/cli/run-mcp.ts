import { once } from 'node:events';
import { createCallTracker } from '../mcp/call-tracker.ts';
import { createMcpServers } from '../mcp/create-mcp-servers.ts';
import { createMcpHttpServer, MCP_PATH } from '../mcp/http/create-mcp-http-server.ts';
import { createMcpSessions } from '../mcp/http/mcp-sessions.ts';
import { serveStdio } from '../mcp/serve-stdio.ts';
import { type Listening, listen } from '../serve/http/listen.ts';
import { systemRuntime } from '../system-runtime.ts';
import { version } from '../version.ts';
import { settingsOf } from './chat/agent-settings.ts';
import { DEFAULT_MCP_HOST, DEFAULT_MCP_PORT, type McpFlags } from './mcp.ts';
import { openLibrary } from './open-library.ts';
import { checkedPort } from './run-serve-model.ts';
import { isLoopback, tokenOf } from './serve-token.ts';
import { createTerminal } from './terminal.ts';
import { withApp } from './with-app.ts';

/** Calls that run at the same time, of all clients together. */
const MAX_CALLS = 64;
const MAX_SESSIONS = 256;
const MAX_BODY_BYTES = 1_000_000;
/** For calls that run when the server is told to stop. */
const GRACE_MS = 5_000;
/** For responses to be written out after the last call has ended. */
const CLOSE_MS = 1_000;

/** Serves until stdin is closed, or with `--http` until Ctrl-C. In stdio mode nothing else writes to stdout. */
export function runMcp(flags: McpFlags): Promise<void> {
  const { host = DEFAULT_MCP_HOST } = flags;
  const port = checkedPort(flags.port ?? DEFAULT_MCP_PORT);
  const token = flags.http ? tokenOf(flags, host) : undefined;
  return withApp(settingsOf(flags), async (app, signal) => {
    const terminal = createTerminal(process.stderr);
    const library = openLibrary(app, signal, { mode: flags.mode, tools: flags.tools, token });
    const log = (message: string) =>
      void process.stderr.write(`${terminal.text(library.withoutSecrets(message))}\n`);
    const tracker = createCallTracker(MAX_CALLS);
    const createServer = createMcpServers({ library, tracker, version, onFault: log });
    // Opened ahead of the first call, and what is wrong with it is said where a person may look for it.
    library.collection().catch((error: Error) => log(`citeloop: ${error.message}`));
    try {
      if (!flags.http) return await serveStdio(createServer(), { tracker, signal, streams: process });
      const sessions = createMcpSessions({
        createServer,
        newId: systemRuntime.newId,
        maxSessions: MAX_SESSIONS,
        maxBodyBytes: MAX_BODY_BYTES,
      });
      const server = createMcpHttpServer({
        sessions,
        token,
        hosts: { names: flags.allowHost ?? [], anyAddress: !isLoopback(host) },
        onDefect: (message) => log(`A request failed: ${message}`),
        ...(flags.verbose && {
          onRequest: ({ method, path, status, ms }) =>
            log(`${method} ${path} ${status} ${Math.round(ms)} ms`),
        }),
      });
      const listening = await listen(server.fetch, { host, port });
      announce(listening, flags.json ?? false);
      if (!signal.aborted) await once(signal, 'abort');
      // Connections are closed last: only then are those of clients that wait for the next call idle.
      sessions.refuse();
      await tracker.drain(GRACE_MS);
      await sessions.close();
      await listening.close(CLOSE_MS);
    } finally {
      await library.close();
    }
  });
}

function announce({ url, port }: Listening, json: boolean): void {
  const address = `${url}${MCP_PATH}`;
  process.stdout.write(
    json ? `${JSON.stringify({ url: address, port })}\n` : `Serving MCP on ${address} until Ctrl-C.\n`,
  );
}
