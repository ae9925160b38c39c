import { AppError, messageOf } from '../../faults/app-error.ts';
import { causesOf, fieldOf, networkCodeOf, networkFault } from '../../faults/network-fault.ts';
import { httpFault } from '../../faults/service-fault.ts';

/** Whether a fault of the network is worth another attempt at once. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof AppError) && networkFault(codeOf(error))?.duration === 'moment';
}

/** Anything that a request threw, as one plain sentence. A fault that we raised ourselves stays as it is. */
export function webFault(url: string, error: unknown): AppError {
  const own = causesOf(error).find((each) => each instanceof AppError);
  if (own !== undefined) return own;
  const code = codeOf(error);
  const fault = networkFault(code);
  const passes = fault !== undefined && fault.duration !== 'lasting';
  return new AppError('api_error', `${url} cannot be read: ${reasonOf(error, code)}.`, {
    hint: passes ? 'Try again later, or check the address.' : 'Check the address.',
    recoverable: passes,
    cause: error,
  });
}

/** An answer with a status of 400 or above. */
export function statusFault(url: string, status: number, retryAfter?: number): AppError {
  const { reason, transient } = httpFault(status);
  return new AppError('api_error', `${url} answered with HTTP ${status}${reason && `, ${reason}`}.`, {
    hint: transient ? 'Try again later.' : 'Check the address, or the page that links to it.',
    recoverable: transient,
    retryAfter,
  });
}

/** With its own words where the code alone says little. */
function reasonOf(error: unknown, code: string | undefined): string {
  const innermost = (messageOf(causesOf(error).at(-1)).split('\n', 1)[0] ?? '').replace(/\.$/, '');
  const reason = networkFault(code)?.reason ?? innermost;
  return /TLS/.test(reason) ? `${reason} (${innermost})` : reason;
}

function codeOf(error: unknown): string | undefined {
  const tookTooLong = causesOf(error).some((each) => fieldOf(each, 'name') === 'TimeoutError');
  return tookTooLong ? 'TIMEOUT' : networkCodeOf(error);
}
