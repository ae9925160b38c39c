import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { createHttpApp, type HttpAppOptions } from '../http/create-http-app.ts';
import { guardOrigin, guardToken } from '../http/guards.ts';

export const MCP_PATH = '/mcp';

/** As the SDK's clients read it: they begin anew when a session is no longer known. */
const SESSION_NOT_FOUND = { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null };
const SESSION_MISSING = {
  jsonrpc: '2.0',
  error: { code: -32000, message: 'Bad Request: Mcp-Session-Id header is required' },
  id: null,
};

const STOPPING = { jsonrpc: '2.0', error: { code: -32000, message: 'The server is stopping' }, id: null };

interface McpHttpServerOptions extends HttpAppOptions {
  sessions: McpSessions;
  /** Undefined lets anyone in who reaches it. */
  token: string | undefined;
}

/** Streamable HTTP behind the checks of every server of ours: Host, Origin, token, in this order. */
export function createMcpHttpServer({ sessions, token, ...options }: McpHttpServerOptions) {
  const app = createHttpApp(options);
  app.use(guardOrigin());
  if (token !== undefined) app.use(guardToken(token));
  app.all(MCP_PATH, ({ req }) => sessions.handle(req.raw));
  return { fetch: (request: Request) => app.fetch(request) };
}

interface McpSessionsOptions {
  createServer: () => McpServer;
  newId: () => string;
  maxSessions: number;
  maxBodyBytes: number;
}

interface McpSessions {
  handle(request: Request): Promise<Response>;
  readonly size: number;
  /** Begins no more sessions; those that there are go on. */
  refuse(): void;
  /** Ends every session with what still runs in it. */
  close(): Promise<void>;
}

/** The connections of streamable HTTP by their ids. When there are too many, the one unused for longest goes. */
export function createMcpSessions(options: McpSessionsOptions): McpSessions {
  const { createServer, newId, maxSessions, maxBodyBytes } = options;
  // In the order of their last use.
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  let refusing = false;

  return {
    async handle(request) {
      const id = request.headers.get('mcp-session-id');
      if (id === null) {
        return request.method === 'POST' ? begin(request) : Response.json(SESSION_MISSING, { status: 400 });
      }
      const session = sessions.get(id);
      if (session === undefined) return Response.json(SESSION_NOT_FOUND, { status: 404 });
      sessions.delete(id);
      sessions.set(id, session);
      return session.handleRequest(request);
    },
    get size() {
      return sessions.size;
    },
    refuse() {
      refusing = true;
    },
    async close() {
      await Promise.all(Array.from(sessions.values(), (transport) => transport.close()));
    },
  };

  /** A session comes of an `initialize` alone; the transport refuses anything else. */
  async function begin(request: Request): Promise<Response> {
    if (refusing) return Response.json(STOPPING, { status: 503, headers: { connection: 'close' } });
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
    await makeRoom();
    return response;
  }

  async function makeRoom(): Promise<void> {
    for (const [, transport] of sessions) {
      if (sessions.size <= maxSessions) return;
      await transport.close();
    }
  }
}
