import { AppError, messageOf } from '../../domain/app-error.ts';

/** Faults of the moment, after which the same request may well succeed. */
const TRANSIENT = new Map([
  ['EAI_AGAIN', 'the name server did not answer'],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ECONNRESET', 'the connection was closed too early'],
  ['EPIPE', 'the connection was closed too early'],
  ['UND_ERR_SOCKET', 'the connection was closed too early'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the connection was closed too early'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connecting took too long'],
  ['ETIMEDOUT', 'connecting took too long'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the network cannot be reached'],
]);

const SLOW = new Map([
  ['UND_ERR_HEADERS_TIMEOUT', 'the server took too long to answer'],
  ['UND_ERR_BODY_TIMEOUT', 'the server stopped in the middle of its answer'],
  ['TIMEOUT', 'the answer took too long'],
]);

const LASTING = new Map([
  ['ENOTFOUND', 'there is no host of that name'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the headers of the answer are too large'],
  ['HPE_INVALID_CONSTANT', 'the answer is not HTTP'],
]);

/** Whether a fault of the network is worth another attempt. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof AppError) && TRANSIENT.has(codeOf(error));
}

/** Anything that a request threw, as one plain sentence. A fault that we raised ourselves stays as it is. */
export function webFault(url: string, error: unknown): AppError {
  const own = causes(error).find((each) => each instanceof AppError);
  if (own !== undefined) return own;
  const code = codeOf(error);
  const passing = TRANSIENT.get(code) ?? SLOW.get(code);
  const reason = passing ?? LASTING.get(code) ?? otherReason(error, code);
  return new AppError('api_error', `${url} cannot be read: ${reason}.`, {
    hint: passing === undefined ? 'Check the address.' : 'Try again later, or check the address.',
    recoverable: passing !== undefined,
    cause: error,
  });
}

/** An answer with a status of 400 or above. */
export function httpFault(url: string, status: number, retryAfter?: number): AppError {
  return new AppError('api_error', `${url} answered with HTTP ${status}${explain(status)}.`, {
    hint:
      status === 429 || status >= 500
        ? 'Try again later.'
        : 'Check the address, or the page that links to it.',
    recoverable: status === 429 || status >= 500,
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

function explain(status: number): string {
  if (status === 401 || status === 403) return ', access denied';
  if (status === 404 || status === 410) return ', not found';
  if (status === 429) return ', too many requests';
  return status >= 500 ? ', a fault of the server' : '';
}

function otherReason(error: unknown, code: string): string {
  const innermost = messageOf(causes(error).at(-1)).split('\n', 1)[0] ?? '';
  if (/^Z_|^ERR__ERROR_FORMAT|BROTLI/.test(code)) return 'its compressed content is damaged';
  if (/CERT|SSL|TLS|SIGNATURE|EPROTO/.test(code))
    return `its TLS certificate or protocol fails (${innermost})`;
  return innermost.replace(/\.$/, '');
}

function codeOf(error: unknown): string {
  for (const each of causes(error)) {
    if (!(each instanceof Error)) continue;
    if (each.name === 'TimeoutError') return 'TIMEOUT';
    if ('code' in each && typeof each.code === 'string') return each.code;
  }
  return '';
}

/** The error and what caused it, outermost first; bounded, since causes may form a circle. */
function causes(error: unknown): unknown[] {
  const chain = [error];
  for (let cause = error; chain.length < 8 && cause instanceof Error && cause.cause !== undefined; ) {
    cause = cause.cause;
    chain.push(cause);
  }
  return chain;
}
