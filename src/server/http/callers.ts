import { createHash, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { RequestFault } from './request-fault.ts';

/** Somebody who may call, and how much at a time. */
export interface NamedToken {
  name: string;
  token: string;
  /** Questions under way at the same time; as many as the server takes unless given. */
  concurrent?: number | undefined;
}

/** Who calls, by the token that they send. */
export interface Callers {
  /** Lets in who sends a token as `Authorization: Bearer`. How long a refusal takes says nothing about the tokens. */
  guard: MiddlewareHandler;
  /** Null where callers have no names: whoever gets in is the same to us. */
  nameOf(request: Request): string | null;
  /** One more question of this caller, until it is given free. Throws a 429 when they have as many as they may. */
  takeTurn(request: Request): () => void;
}

export function createCallers(tokens: readonly NamedToken[]): Callers {
  const known = tokens.map((caller) => ({ ...caller, digest: digest(caller.token) }));
  const names = new WeakMap<Request, NamedToken>();
  const running = new Map<string, number>();

  return {
    async guard(context, next) {
      const given = /^Bearer +(\S+) *$/i.exec(context.req.header('authorization') ?? '')?.[1] ?? '';
      const wanted = digest(given);
      // All of them are compared, whichever it is.
      const [caller] = known.filter((each) => timingSafeEqual(wanted, each.digest));
      if (caller === undefined) {
        throw new RequestFault(401, 'The token is missing or wrong.', {
          code: 'invalid_api_key',
          hint: 'Send it as Authorization: Bearer.',
        });
      }
      names.set(context.req.raw, caller);
      await next();
    },
    nameOf: (request) => names.get(request)?.name ?? null,
    takeTurn(request) {
      const { name, concurrent = Number.POSITIVE_INFINITY } = names.get(request) ?? { name: '' };
      const count = running.get(name) ?? 0;
      if (count >= concurrent) {
        throw new RequestFault(429, `You have ${count} questions under way, which is as many as you may.`, {
          code: 'caller_busy',
          retryAfter: 1,
        });
      }
      running.set(name, count + 1);
      let isFree = false;
      return () => {
        if (isFree) return;
        isFree = true;
        running.set(name, (running.get(name) ?? 1) - 1);
      };
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
