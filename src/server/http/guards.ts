import type { MiddlewareHandler } from 'hono';
import { HttpError } from './http-error.ts';

export interface HostRules {
  /** Host names besides those of the loopback interface. */
  names: readonly string[];
  /** Accepts any IP address as host; only for servers that require a token. */
  anyAddress: boolean;
}

const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;

/** An IPv6 address may be in brackets, as in a URL. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/**
 * Requires a known Host header, and that an absolute address in the request line has the same host. Otherwise a web page whose name was made to point at this machine would share the
 * server's origin (DNS rebinding); such a page always has a name, never an address.
 */
export function guardHost({ names, anyAddress }: HostRules): MiddlewareHandler {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return async (context, next) => {
    const header = context.req.header('host') ?? '';
    const host = hostnameOf(header);
    const allowed = isLoopbackHost(host) || known.has(host) || (anyAddress && ADDRESS.test(host));
    if (!allowed || URL.parse(`http://${header}`)?.host !== URL.parse(context.req.url)?.host) {
      throw new HttpError(403, 'host_not_allowed', 'This server does not accept that Host header.');
    }
    await next();
  };
}

/** Refuses requests from web pages of other origins. Programs other than browsers send neither header. */
export const guardOrigin: MiddlewareHandler = async ({ req }, next) => {
  const origin = req.header('origin');
  const site = req.header('sec-fetch-site');
  const isOwn = origin === undefined || isSameOrigin(origin, req.header('host') ?? '');
  if (!isOwn || site === 'cross-site' || site === 'same-site') {
    throw new HttpError(403, 'origin_not_allowed', 'Pages of other origins may not use this server.');
  }
  await next();
};

/** The host in lower case without its port; empty if it is malformed. */
function hostnameOf(host: string): string {
  return /^(\[[\da-f:.]+\]|[^:@/\s]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase() ?? '';
}

function isSameOrigin(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  return url !== null && /^https?:$/.test(url.protocol) && url.host === host.toLowerCase();
}
