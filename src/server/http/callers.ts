import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { createConcurrencyGate } from '../../async/concurrency-gate.ts';
import { HttpError } from './http-error.ts';

export interface NamedToken {
  /** Null for the one token that all clients share. */
  name: string | null;
  token: string;
  /** Most questions in progress at the same time (default: no limit). */
  concurrent?: number | undefined;
}

/** The clients of a server, identified by their tokens. */
export interface CallerRegistry {
  /** Requires a token as `Authorization: Bearer`, in constant time. Without tokens there is no authentication. */
  guard: MiddlewareHandler;
  /** Null if the client has no name. */
  nameOf(request: Request): string | null;
  /** Counts one more question of the caller until the returned function is called. Throws a 429 over its limit. */
  takeTurn(request: Request): () => void;
}

/** `null` means that no token is required. */
export function createCallerRegistry(tokens: readonly NamedToken[] | null): CallerRegistry {
  const known = (tokens ?? []).map(({ name, token, concurrent = Number.POSITIVE_INFINITY }) => ({
    name,
    digest: toDigest(token),
    turns: createConcurrencyGate({ concurrent }),
  }));
  const callers = new WeakMap<Request, (typeof known)[number]>();

  return {
    async guard(context, next) {
      const given = /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? '';
      const digest = toDigest(given);
      // Compares with all tokens, so that the time does not depend on which one matches.
      const [caller] = known.filter((each) => timingSafeEqual(digest, each.digest));
      if (caller === undefined && tokens !== null) {
        throw new HttpError(401, 'invalid_api_key', 'The token is missing or wrong.', {
          hint: 'Send it as Authorization: Bearer.',
        });
      }
      if (caller !== undefined) callers.set(context.req.raw, caller);
      await next();
    },
    nameOf: (request) => callers.get(request)?.name ?? null,
    takeTurn(request) {
      const caller = callers.get(request);
      if (caller === undefined) return () => {};
      const release = caller.turns.tryEnter();
      if (release !== undefined) return release;
      const message = `You have ${caller.turns.running} questions in progress, which is your limit.`;
      throw new HttpError(429, 'caller_busy', message, { retryAfter: 1 });
    },
  };
}

function toDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
