import { Hono } from 'hono';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { guardHost, type HostRules } from './guards.ts';
import { HttpError, toErrorBody, toHttpError } from './http-error.ts';

export interface HttpAppOptions {
  hosts: HostRules;
  /** Called for each request that ended, without its body, query and headers. */
  onRequest?: (request: EndedRequest) => void;
  onInternalError?: (message: string) => void;
  /** The name of the client that sent a request, if it has one. */
  nameOf?: (request: Request) => string | null;
}

interface EndedRequest {
  method: string;
  path: string;
  status: number;
  ms: number;
  caller: string | null;
}

/** Logs caller, route, status and time if `verbose`; never a question, an answer, a header or a token. */
export function createRequestLog(write: (line: string) => void, verbose: boolean) {
  return {
    onInternalError: (message: string) => write(`A request failed: ${message}`),
    ...(verbose && {
      onRequest: ({ method, path, status, ms, caller }: EndedRequest) => {
        const who = caller === null ? '' : `${caller} `;
        write(`${new Date().toISOString()} ${who}${method} ${path} ${status} ${Math.round(ms)} ms`);
      },
    }),
  };
}

/** Pages load only from this server and cannot be embedded. */
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

/** An HTTP application with the host check, security headers and JSON errors that every route needs. */
export function createHttpApp({
  hosts,
  onRequest,
  onInternalError,
  nameOf = () => null,
}: HttpAppOptions): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    const started = performance.now();
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value);
    }
    onRequest?.({
      method: context.req.method,
      path: context.req.path,
      status: context.res.status,
      caller: nameOf(context.req.raw),
      ms: performance.now() - started,
    });
  });
  app.use(guardHost(hosts));
  app.notFound(() => toErrorResponse(new HttpError(404, 'not_found', 'Not found.')));
  app.onError((error) => {
    if (!(error instanceof HttpError || error instanceof AppError)) onInternalError?.(messageOf(error));
    return toErrorResponse(toHttpError(error));
  });
  return app;
}

function toErrorResponse(error: HttpError): Response {
  const { retryAfter } = error.details;
  return Response.json(toErrorBody(error), {
    status: error.status,
    headers: {
      'cache-control': 'no-store',
      ...(retryAfter !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
      ...(error.status === 401 && { 'www-authenticate': 'Bearer' }),
    },
  });
}
