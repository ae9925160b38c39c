import { createHttpApp, type HttpAppOptions } from '../../serve/http/create-http-app.ts';
import { guardOrigin } from '../../serve/http/guard-host.ts';
import { guardToken } from '../../serve/http/guard-token.ts';
import type { McpSessions } from './mcp-sessions.ts';

export const MCP_PATH = '/mcp';

export interface McpHttpServerOptions extends HttpAppOptions {
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
