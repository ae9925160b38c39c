import { advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';

interface TimeLimit {
  /** Raised with the one given, or when the time is up. */
  signal: AbortSignal;
  end(): void;
}

/** Ends a turn that takes too long, whatever is sent to keep it alive. */
export function startTimeLimit(seconds: number, given: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(tookTooLong(seconds)),
    Math.min(seconds * 1000, LONGEST_TIMER),
  );
  return {
    signal: given === undefined ? controller.signal : AbortSignal.any([given, controller.signal]),
    end: () => clearTimeout(timer),
  };
}

const LONGEST_TIMER = 2 ** 31 - 1;

function tookTooLong(seconds: number): AppError {
  return new AppError(
    'api_error',
    `The answer was not there after ${seconds} seconds, and the turn was stopped.`,
    {
      recoverable: true,
      hint: advice`Ask again, use a faster model, or raise ${setting('maxTurnSeconds')}.`,
    },
  );
}
