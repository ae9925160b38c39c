import { AppError } from '../domain/app-error.ts';

/** Runs `work` with a signal that Ctrl-C raises. A second Ctrl-C ends the process at once. `hint` says what that left. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>, hint: string): Promise<T> {
  const controller = new AbortController();
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort(new AppError('interrupted', 'Stopped.', { hint }));
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
