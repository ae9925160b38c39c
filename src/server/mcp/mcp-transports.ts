import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createCallerRegistry } from '../http/callers.ts';
import { createHttpApp, type HttpAppOptions } from '../http/create-http-app.ts';
import { guardOrigin } from '../http/guards.ts';
import { readJsonBody } from '../http/parse-body.ts';
import type { CallLimiter } from './call-limiter.ts';

export const MCP_PATH = '/mcp';

/** Clients that close stdin wait about two seconds before they kill the process. */
const STDIO_DRAIN_MS = 1_000;
const MAX_STDIO_MESSAGE_BYTES = 4_000_000;

interface StdioOptions {
  tracker: CallLimiter;
  signal: AbortSignal;
  streams: Pick<NodeJS.Process, 'stdin' | 'stdout'>;
}

/**
 * Serves the client that started the process, until it closes stdin or the signal aborts. The first message decides
 * between the protocol of 2026 and that of 2025.
 */
export async function serveMcpOverStdio(
  createServer: () => McpServer,
  { tracker, signal, streams: { stdin, stdout } }: StdioOptions,
): Promise<void> {
  // At the end of its input the transport would abort running calls.
  const input = stdin.pipe(new PassThrough(), { end: false });
  const transport = new StdioServerTransport(input, stdout, { maxBufferSize: MAX_STDIO_MESSAGE_BYTES });
  const server = serveStdio(createServer, { transport });
  const closed = new Promise<void>((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  await Promise.race([
    once(stdin, 'end').catch(() => {}),
    once(stdin, 'close').catch(() => {}),
    ...(signal.aborted ? [Promise.resolve()] : [once(signal, 'abort')]),
    closed,
  ]);
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

/**
 * Requests of the protocol of 2026 are answered each on its own; those of 2025 have connections by session id. Over the
 * limit, the least recently used one is closed.
 */
export function createMcpSessions({ createServer, newId, maxSessions, maxBodyBytes }: McpSessionsOptions) {
  /** In order of last use. */
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  let refusing = false;
  const modern = createMcpHandler(createServer, { legacy: 'reject' });

  return {
    /** Throws an HttpError for a body that is not JSON or too large. */
    async handle(request: Request): Promise<Response> {
      const body = request.method === 'POST' ? { parsedBody: await readJsonBody(request, maxBodyBytes) } : {};
      if (!(await isLegacyRequest(request, body.parsedBody)))
        return refusing ? stoppingResponse() : modern.fetch(request, body);
      const id = request.headers.get('mcp-session-id');
      if (id === null) {
        if (request.method === 'POST') return startSession(request, body);
        return toProtocolError(400, -32000, 'Bad Request: Mcp-Session-Id header is required');
      }
      const session = sessions.get(id);
      // The SDK's clients start a new session when they read this.
      if (session === undefined) return toProtocolError(404, -32001, 'Session not found');
      sessions.delete(id);
      sessions.set(id, session);
      return session.handleRequest(request, body);
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
      await modern.close();
      await Promise.all(Array.from(sessions.values(), (transport) => transport.close()));
    },
  };

  /** Only an `initialize` request starts a session; the transport refuses anything else. */
  async function startSession(request: Request, body: { parsedBody?: unknown }): Promise<Response> {
    if (refusing) return stoppingResponse();
    const server = createServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      onsessioninitialized(id) {
        sessions.set(id, transport);
        server.server.onclose = () => void sessions.delete(id);
      },
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request, body);
    if (transport.sessionId === undefined) await server.close();
    for (const [, oldest] of sessions) {
      if (sessions.size <= maxSessions) break;
      await oldest.close();
    }
    return response;
  }
}

function stoppingResponse(): Response {
  return toProtocolError(503, -32000, 'The server is stopping', { connection: 'close' });
}

function toProtocolError(status: number, code: number, message: string, headers = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
