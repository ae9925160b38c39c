import { createKeyedLock } from '../async/gate.ts';
import type { Policy } from '../domain/agent-config.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { askRoute } from './api/ask-route.ts';
import { sessionRoutes } from './api/session-routes.ts';
import { sourceRoutes } from './api/source-routes.ts';
import { createCallers, type NamedToken } from './http/callers.ts';
import { createHttpApp, type HttpAppOptions } from './http/create-http-app.ts';
import { guardOrigin, guardToken } from './http/guards.ts';
import type { PageFile } from './http/page-files.ts';
import { pageRoutes } from './http/page-files.ts';
import { createOpenAiRoutes } from './openai/openai-routes.ts';
import { createMetrics } from './turns/metrics.ts';
import type { ServedCollections } from './turns/served-collections.ts';
import { createTurnRunner, type TurnLimits } from './turns/turn-runner.ts';

export interface AgentServerOptions extends HttpAppOptions {
  collections: ServedCollections;
  /** Sessions of the page. */
  sessions: SessionStore;
  runtime: Runtime;
  model: string;
  policy: Policy;
  version: string;
  page: ReadonlyMap<string, PageFile>;
  /** Wanted by every route but the page's files and /healthz, if there is one. */
  token?: string | undefined;
  /** Instead of one for all: each with a name, sessions and limits of their own. */
  tokens?: readonly NamedToken[] | undefined;
  limits: TurnLimits & { maxBodyBytes: number };
}

interface AgentServer {
  fetch(request: Request): Response | Promise<Response>;
  /** Takes no more turns and waits for those that run, at most `graceMs`. */
  drain(graceMs: number): Promise<void>;
}

/** The agent over HTTP: the APIs of OpenAI, the page with its own API, health and metrics. */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  const { collections, token, model, policy, version, limits } = options;
  const metrics = createMetrics({ version, model });
  const turns = createTurnRunner(limits, metrics);
  const { maxBodyBytes } = limits;
  // One token for all is nobody's name.
  const callers = createCallers(options.tokens ?? []);
  const api = { ...options, turns, callers, maxBodyBytes, locks: createKeyedLock() };
  let stopping = false;

  const app = createHttpApp({
    ...options,
    nameOf: callers.nameOf,
    onRequest(request) {
      metrics.requestEnded(request);
      options.onRequest?.(request);
    },
  });
  for (const path of ['/v1/*', '/api/*', '/metrics']) {
    app.use(path, guardOrigin());
    if (options.tokens !== undefined) app.use(path, callers.guard);
    else if (token !== undefined) app.use(path, guardToken(token));
    app.use(path, async (context, next) => {
      await next();
      if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
    });
  }

  app.get('/healthz', (context) =>
    context.json({ status: stopping ? 'stopping' : 'ok' }, stopping ? 503 : 200),
  );
  app.get('/metrics', (context) => {
    const { running, waiting } = turns;
    return context.body(metrics.text({ running, waiting, collections: collections.openCount }), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    });
  });
  app.route('/v1', createOpenAiRoutes(api));
  app.route('/api', askRoute(api));
  app.route('/api/sessions', sessionRoutes(api));
  app.route('/api', sourceRoutes(api, { version, policy, token: (options.tokens ?? token) !== undefined }));
  app.route('/', pageRoutes(options.page));

  return {
    fetch: (request) => app.fetch(request),
    drain(graceMs) {
      stopping = true;
      return turns.drain(graceMs);
    },
  };
}
