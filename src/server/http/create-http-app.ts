import { type Context, Hono } from 'hono';
import { messageOf } from '../../faults/app-error.ts';
import { guardHost, type HostRules } from './guards.ts';
import { isDefect, RequestFault, toRequestFault, toWireError } from './request-fault.ts';

export interface HttpAppOptions {
  hosts: HostRules;
  /** Hears of every request that ended and of every defect. Never gets bodies, queries or headers. */
  onRequest?: (request: EndedRequest) => void;
  onDefect?: (message: string) => void;
  /** Who sent a request, where callers have names. */
  nameOf?: (request: Request) => string | null;
}

export interface EndedRequest {
  method: string;
  /** The pattern of the route, so that there are few of them. */
  route: string;
  path: string;
  status: number;
  ms: number;
  /** Who sent it; null where callers have no names. */
  caller: string | null;
}

/** A page may load what this server holds and nothing else; no other page may show or embed it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
};

/** An HTTP application with what every route needs: names that it answers to, headers, faults as JSON. */
export function createHttpApp({ hosts, onRequest, onDefect, nameOf = () => null }: HttpAppOptions): Hono {
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
      caller: nameOf(context.req.raw),
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

function faultResponse(fault: RequestFault): Response {
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
