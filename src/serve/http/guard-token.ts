import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { RequestFault } from '../wire/request-fault.ts';

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

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
