import { createKeyedLock } from '../async/concurrency-gate.ts';
import type { RetrievalPolicy } from '../domain/agent-config.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { SessionStore } from '../ports/session-store.ts';
import { createAskRoute } from './api/ask-route.ts';
import { createSessionRoutes } from './api/session-routes.ts';
import { createSourceRoutes } from './api/source-routes.ts';
import { createCallerRegistry, type NamedToken } from './http/callers.ts';
import { createHttpApp, type HttpAppOptions } from './http/create-http-app.ts';
import { guardOrigin } from './http/guards.ts';
import type { Service } from './http/listen.ts';
import { createPageRoutes, type PageFile } from './http/page-files.ts';
import { createOpenAiRoutes } from './openai/openai-routes.ts';
import type { ServedCollections } from './turns/served-collections.ts';
import { createTurnRunner, type TurnLimits } from './turns/turn-runner.ts';

export interface AgentServerOptions extends HttpAppOptions {
  collections: ServedCollections;
  sessions: SessionStore;
  runtime: Runtime;
  model: string;
  policy: RetrievalPolicy;
  version: string;
  page: ReadonlyMap<string, PageFile>;
  /** Required by every route but the files of the page and /healthz. */
  token?: string | undefined;
  /** Replace `token`: each has a name, sessions and a limit. */
  tokens?: readonly NamedToken[] | undefined;
  limits: TurnLimits & { maxBodyBytes: number };
}

/** The agent over HTTP: OpenAI's APIs, the web page with its API, and health. */
export function createAgentServer(options: AgentServerOptions): Service {
  const { policy, version, limits } = options;
  const sharedToken = options.token === undefined ? null : [{ name: null, token: options.token }];
  const tokens = options.tokens ?? sharedToken;
  const turns = createTurnRunner(limits);
  const callers = createCallerRegistry(tokens);
  const api = { ...options, turns, callers, maxBodyBytes: limits.maxBodyBytes, locks: createKeyedLock() };
  let stopping = false;

  const app = createHttpApp({ ...options, nameOf: callers.nameOf });
  for (const path of ['/v1/*', '/api/*']) {
    app.use(path, guardOrigin);
    app.use(path, callers.guard);
    app.use(path, async (context, next) => {
      await next();
      if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
    });
  }

  app.get('/healthz', (context) =>
    context.json({ status: stopping ? 'stopping' : 'ok' }, stopping ? 503 : 200),
  );
  app.route('/v1', createOpenAiRoutes(api));
  app.route('/api', createAskRoute(api));
  app.route('/api/sessions', createSessionRoutes(api));
  app.route('/api', createSourceRoutes(api, { version, policy, token: tokens !== null }));
  app.route('/', createPageRoutes(options.page));

  return {
    fetch: (request) => app.fetch(request),
    drain(graceMs) {
      stopping = true;
      return turns.drain(graceMs);
    },
  };
}
