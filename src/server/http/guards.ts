import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { RequestFault } from './request-fault.ts';

export interface HostRules {
  /** Names besides those of the own machine. */
  names: readonly string[];
  /** Whether any address may be named: only where a token guards what is behind it. */
  anyAddress: boolean;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;

/**
 * Answers only to the names that this server has. A page of another site whose name was made to point at this
 * machine would otherwise be of the same origin as the server (DNS rebinding); such a page has a name, never an
 * address.
 */
export function guardHost({ names, anyAddress }: HostRules): MiddlewareHandler {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return async (context, next) => {
    const host = hostname(context.req.header('host') ?? '');
    const allowed = LOOPBACK.test(host) || known.has(host) || (anyAddress && ADDRESS.test(host));
    if (!allowed) {
      throw new RequestFault(403, 'This server does not answer to that Host.', { code: 'host_not_allowed' });
    }
    await next();
  };
}

/**
 * Refuses what a page of another origin sends: with an Origin that is not the server's own, or marked by the
 * browser as coming from elsewhere. Programs send neither.
 */
export function guardOrigin(): MiddlewareHandler {
  return async (context, next) => {
    const origin = context.req.header('origin');
    const site = context.req.header('sec-fetch-site');
    const own = origin === undefined || isOwn(origin, context.req.header('host') ?? '');
    if (!own || site === 'cross-site' || site === 'same-site') {
      throw new RequestFault(403, 'Pages of other origins may not use this server.', {
        code: 'origin_not_allowed',
      });
    }
    await next();
  };
}

/** Lets in who sends the token as `Authorization: Bearer`. How long a refusal takes says nothing about the token. */
export function guardToken(token: string): MiddlewareHandler {
  const wanted = digest(token);
  return async (context, next) => {
    const given = /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(given), wanted)) {
      throw new RequestFault(401, 'The token is missing or wrong.', {
        code: 'invalid_api_key',
        hint: 'Send it as Authorization: Bearer.',
      });
    }
    await next();
  };
}

/** Without the port, in lower case. */
function hostname(host: string): string {
  return /^(\[[\da-f:.]+\]|[^:@/\s]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase() ?? '';
}

function isOwn(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  return url !== null && /^https?:$/.test(url.protocol) && url.host === host.toLowerCase();
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
