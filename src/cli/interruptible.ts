import { AppError } from '../domain/app-error.ts';

/** Runs `work` with a signal that Ctrl-C raises. A second Ctrl-C ends the process at once. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort(
      new AppError('interrupted', 'Stopped.', {
        hint: 'What was done so far is kept; the same command goes on from there.',
      }),
    );
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}
