import { once } from 'node:events';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { createCallerRegistry } from '../http/callers.ts';
import { createHttpApp, type HttpAppOptions } from '../http/create-http-app.ts';
import { guardOrigin } from '../http/guards.ts';
import type { CallTracker } from './call-tracker.ts';

export const MCP_PATH = '/mcp';

/** Clients that close stdin wait about two seconds before they kill the process. */
const STDIO_DRAIN_MS = 1_000;
const MAX_STDIO_MESSAGE_BYTES = 4_000_000;

interface StdioOptions {
  tracker: CallTracker;
  signal: AbortSignal;
  streams: Pick<NodeJS.Process, 'stdin' | 'stdout'>;
}

/** Serves the client that started the process, until it closes stdin or the signal aborts. */
export async function serveMcpOverStdio(
  server: McpServer,
  { tracker, signal, streams: { stdin, stdout } }: StdioOptions,
): Promise<void> {
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MAX_STDIO_MESSAGE_BYTES });
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
  if (!signal.aborted) await tracker.drain(STDIO_DRAIN_MS);
  await server.close();
  stdin.destroy();
}

interface McpHttpServerOptions extends HttpAppOptions {
  sessions: ReturnType<typeof createMcpSessions>;
  /** Undefined: no authentication. */
  token: string | undefined;
}

/** Streamable HTTP behind the checks of Host, Origin and token, in this order. */
export function createMcpHttpServer({ sessions, token, ...options }: McpHttpServerOptions) {
  const app = createHttpApp(options);
  app.use(guardOrigin);
  app.use(createCallerRegistry(token === undefined ? null : [{ name: null, token }]).guard);
  app.all(MCP_PATH, ({ req }) => sessions.handle(req.raw));
  return { fetch: (request: Request) => app.fetch(request) };
}

interface McpSessionsOptions {
  createServer: () => McpServer;
  newId: () => string;
  maxSessions: number;
  maxBodyBytes: number;
}

/** The connections of streamable HTTP by session id. Over the limit, the least recently used one is closed. */
export function createMcpSessions({ createServer, newId, maxSessions, maxBodyBytes }: McpSessionsOptions) {
  /** In order of last use. */
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  let refusing = false;

  return {
    async handle(request: Request): Promise<Response> {
      const id = request.headers.get('mcp-session-id');
      if (id === null) {
        if (request.method === 'POST') return startSession(request);
        return toProtocolError(400, -32000, 'Bad Request: Mcp-Session-Id header is required');
      }
      const session = sessions.get(id);
      // The SDK's clients start a new session when they read this.
      if (session === undefined) return toProtocolError(404, -32001, 'Session not found');
      sessions.delete(id);
      sessions.set(id, session);
      return session.handleRequest(request);
    },
    get size() {
      return sessions.size;
    },
    /** Refuses new sessions; open ones continue. */
    refuseNew() {
      refusing = true;
    },
    /** Ends every session and its calls. */
    async close() {
      await Promise.all(Array.from(sessions.values(), (transport) => transport.close()));
    },
  };

  /** Only an `initialize` request starts a session; the transport refuses anything else. */
  async function startSession(request: Request): Promise<Response> {
    if (refusing) return toProtocolError(503, -32000, 'The server is stopping', { connection: 'close' });
    const server = createServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized(id) {
        sessions.set(id, transport);
        server.server.onclose = () => void sessions.delete(id);
      },
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await server.close();
    for (const [, oldest] of sessions) {
      if (sessions.size <= maxSessions) break;
      await oldest.close();
    }
    return response;
  }
}

function toProtocolError(status: number, code: number, message: string, headers = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
