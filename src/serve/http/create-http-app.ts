import { type Context, Hono } from 'hono';
import { messageOf } from '../../domain/app-error.ts';
import { isDefect, RequestFault, toRequestFault, toWireError } from '../wire/request-fault.ts';
import { guardHost, type HostRules } from './guard-host.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export interface HttpAppOptions {
  hosts: HostRules;
  /** Hears of every request that ended and of every defect. Never gets bodies, queries or headers. */
  onRequest?: (request: EndedRequest) => void;
  onDefect?: (message: string) => void;
}

export interface EndedRequest {
  method: string;
  /** The pattern of the route, so that there are few of them. */
  route: string;
  path: string;
  status: number;
  ms: number;
}

/** An HTTP application with what every route needs: names that it answers to, headers, faults as JSON. */
export function createHttpApp({ hosts, onRequest, onDefect }: HttpAppOptions): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    const started = performance.now();
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
    onRequest?.({
      method: context.req.method,
      route: routeOf(context),
      path: context.req.path,
      status: context.res.status,
      ms: performance.now() - started,
    });
  });
  app.use(guardHost(hosts));
  app.notFound(() => faultResponse(new RequestFault(404, 'There is nothing here.', { code: 'not_found' })));
  app.onError((error) => {
    if (isDefect(error)) onDefect?.(messageOf(error));
    return faultResponse(toRequestFault(error));
  });
  return app;
}

export function faultResponse(fault: RequestFault): Response {
  const { retryAfter } = fault.details;
  return Response.json(toWireError(fault), {
    status: fault.status,
    headers: {
      'cache-control': 'no-store',
      ...(retryAfter !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
      ...(fault.status === 401 && { 'www-authenticate': 'Bearer' }),
    },
  });
}

/** Of the handler that ran last, or of the guard that stopped the request. */
function routeOf({ req }: Context): string {
  return req.matchedRoutes[req.routeIndex]?.path ?? '*';
}
