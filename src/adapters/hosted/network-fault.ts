import { AppError } from '../../domain/app-error.ts';
import type { Service } from './service.ts';

const REASONS: ReadonlyArray<[RegExp, string, boolean]> = [
  [/^ECONNREFUSED$/, 'refused the connection', true],
  [/^(ENOTFOUND|EAI_NONAME)$/, 'cannot be found: there is no host of that name', false],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    'closed the connection too early',
    true,
  ],
  [/TIMEOUT|^ETIMEDOUT$/, 'took too long to answer', true],
  [/CERT|SIGNATURE|TLS|SSL|EPROTO/, 'could not be trusted: its TLS certificate or protocol fails', false],
  [/^HPE_/, 'does not speak HTTP', false],
];

/**
 * What kept a request from reaching the service, or its answer from reaching us. Only the code of the fault is
 * told: its message may quote headers.
 */
export function networkFault(error: unknown, { name, timeoutMs }: Service): AppError {
  // A replay that has no answer says so itself.
  if (error instanceof AppError) return error;
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new AppError('api_error', `${name} did not answer within ${timeoutMs / 1000} seconds.`, {
      recoverable: true,
      hint: 'Try again in a while, or allow more time.',
    });
  }
  const code = codeOf(error);
  const [, reason, recoverable] = REASONS.find(([pattern]) => pattern.test(code ?? '')) ?? [
    undefined,
    'could not be reached',
    true,
  ];
  return new AppError('api_error', `${name} ${reason}${code === undefined ? '' : ` (${code})`}.`, {
    recoverable,
    hint: 'Check the base URL, that the service is running, and the network.',
  });
}

/** The code of the error or of what caused it; bounded, since causes may form a circle. */
function codeOf(error: unknown): string | undefined {
  let each = error;
  for (let depth = 0; depth < 8 && each instanceof Error; depth += 1) {
    const { code } = each as { code?: unknown };
    if (typeof code === 'string' && /^[A-Z_]+\w*$/.test(code)) return code;
    each = each instanceof AggregateError ? each.errors[0] : each.cause;
  }
  return undefined;
}
