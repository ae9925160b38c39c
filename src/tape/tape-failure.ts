import type { TapeFailure } from './tape-format.ts';

/** What a failed call of `fetch` says of itself. */
export function failureOf(error: unknown): TapeFailure {
  const { name = 'Error', message = String(error) } = (error ?? {}) as Partial<Error>;
  const code = codeOf(error);
  return { name, message, ...(code !== undefined && { code }) };
}

/** The error that `fetch` threw when the failure was recorded, as far as clients can tell. */
export function errorOf({ name, message, code }: TapeFailure): Error {
  if (name === 'AbortError' || name === 'TimeoutError') return new DOMException(message, name);
  const cause = code === undefined ? undefined : Object.assign(new Error(`${message} (${code})`), { code });
  return new TypeError(message, { cause });
}

/** The code of the error or of what caused it; bounded, since causes may form a circle. */
function codeOf(error: unknown): string | undefined {
  let each = error;
  for (let depth = 0; depth < 8 && each instanceof Error; depth += 1) {
    const { code } = each as { code?: unknown };
    if (typeof code === 'string' && code !== '') return code;
    each = each instanceof AggregateError && each.cause === undefined ? each.errors[0] : each.cause;
  }
  return undefined;
}
