import { openMcpLibrary } from '../../app/open-mcp-library.ts';
import { systemRuntime } from '../../app/system-runtime.ts';
import { parseFlag, portSchema } from '../../config/parse-value.ts';
import { version } from '../../package.ts';
import { createRequestLog } from '../../server/http/create-http-app.ts';
import { isLoopbackHost } from '../../server/http/guards.ts';
import { type ListeningServer, serveUntil } from '../../server/http/listen.ts';
import { createCallLimiter } from '../../server/mcp/call-limiter.ts';
import { createMcpServers } from '../../server/mcp/create-mcp-servers.ts';
import {
  createMcpHttpServer,
  createMcpSessions,
  MCP_PATH,
  serveMcpOverStdio,
} from '../../server/mcp/mcp-transports.ts';
import type { Switches } from '../flags/common-flags.ts';
import { MCP_DEFAULTS, type ServerFlags } from '../flags/server-flags.ts';
import { createTerminal, printJson } from '../terminal/terminal.ts';
import { readAccessToken } from './access-tokens.ts';
import { toSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export interface McpFlags extends ServerFlags, Switches<'http'> {}

/** Concurrent calls of all clients. */
const MAX_CALLS = 64;
const MAX_SESSIONS = 256;
const MAX_BODY_BYTES = 1_000_000;
/** Time for running calls to finish on shutdown. */
const GRACE_MS = 5_000;

/** Serves until stdin is closed, or with --http until Ctrl-C. Over stdio, nothing else may write to stdout. */
export function runMcp(flags: McpFlags): Promise<void> {
  const { host = MCP_DEFAULTS.host } = flags;
  const port = parseFlag('--port', flags.port, portSchema) ?? MCP_DEFAULTS.port;
  const token = flags.http ? readAccessToken(flags, host) : undefined;
  return withApp({ flags: toSettings(flags) }, async (app, { signal }) => {
    const terminal = createTerminal(process.stderr);
    const library = openMcpLibrary(app, signal, { mode: flags.mode, token });
    const log = (message: string) =>
      void process.stderr.write(`${terminal.text(library.withoutSecrets(message))}\n`);
    const tracker = createCallLimiter(MAX_CALLS);
    const createServer = createMcpServers({ library, tracker, version, onError: log });
    // Opened before the first call, so that errors are logged at start.
    library.collection().catch((error: Error) => log(`citeloop: ${error.message}`));
    try {
      if (!flags.http) return await serveMcpOverStdio(createServer, { tracker, signal, streams: process });
      const sessions = createMcpSessions({
        createServer,
        newId: systemRuntime.newId,
        maxSessions: MAX_SESSIONS,
        maxBodyBytes: MAX_BODY_BYTES,
      });
      const server = createMcpHttpServer({
        sessions,
        token,
        hosts: { names: flags.allowHost ?? [], anyAddress: !isLoopbackHost(host) },
        ...createRequestLog(log, app.config.agent.verbose),
      });
      const service = {
        fetch: server.fetch,
        async drain(graceMs: number) {
          sessions.refuseNew();
          await tracker.drain(graceMs);
          await sessions.close();
        },
      };
      const onListening = ({ url, port }: ListeningServer) => {
        const address = `${url}${MCP_PATH}`;
        if (flags.json) printJson({ url: address, port });
        else process.stdout.write(`Serving MCP on ${address}. Press Ctrl-C to stop.\n`);
      };
      await serveUntil(signal, service, { host, port, graceMs: GRACE_MS, onListening });
    } finally {
      await library.close();
    }
  });
}
