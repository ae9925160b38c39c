import { createConcurrencyGate } from '../../async/concurrency-gate.ts';
import { createEventQueue, readEvents } from '../../async/event-queue.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { advice, settingName } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { HttpError } from '../http/http-error.ts';

export interface TurnLimits {
  /** Turns that run at the same time. */
  concurrent: number;
  /** Turns that may wait in the queue; more are refused. */
  waiting: number;
  /** The longest time of a turn, with its time in the queue. */
  turnMs: number;
}

/** Sent when a turn has to wait, with the number of turns ahead of it. */
export interface WaitingEvent {
  type: 'waiting';
  ahead: number;
}

export interface StartedTurn {
  events: AsyncGenerator<RunEvent | WaitingEvent, void, undefined>;
  /** Aborts the turn because its client has disconnected. */
  abandon(): void;
  /** Resolves when the turn is over, even if it never left the queue. Never rejects. */
  ended: Promise<void>;
}

/** Runs a turn and emits its events. */
type RunTurn = (emit: (event: RunEvent) => void, signal: AbortSignal) => Promise<void>;

/** Runs turns within limits, at their own pace, and aborts them when their client disconnects. */
export interface TurnRunner {
  /** Throws an HttpError if the queue is full or the server is stopping. */
  start(runTurn: RunTurn, disconnected: AbortSignal): Promise<StartedTurn>;
  /** Refuses new turns, waits up to `graceMs` for running ones, then aborts the rest. */
  drain(graceMs: number): Promise<void>;
}

export function createTurnRunner({ turnMs, ...limits }: TurnLimits): TurnRunner {
  const gate = createConcurrencyGate({
    ...limits,
    whenFull: (retryAfter) =>
      new HttpError(429, 'queue_full', 'Too many questions are waiting to be answered.', { retryAfter }),
  });
  const active = new Map<AbortController, Promise<void>>();
  let stopping = false;

  return {
    async start(runTurn, disconnected) {
      if (stopping) throw new HttpError(503, 'stopping', 'The server is stopping.', { retryAfter: 5 });
      const controller = new AbortController();
      const abandon = () => controller.abort(new AppError('interrupted', 'The client disconnected.'));
      if (disconnected.aborted) abandon();
      disconnected.addEventListener('abort', abandon);
      const timer = setTimeout(() => controller.abort(turnTimeoutError(turnMs)), turnMs);
      const queue = createEventQueue<RunEvent | WaitingEvent>();
      const entered = gate.enter(controller.signal, (ahead) => queue.push({ type: 'waiting', ahead }));
      const ended = entered
        .then(async (release) => {
          try {
            await runTurn(queue.push, controller.signal);
          } finally {
            release();
          }
        })
        .then(
          () => queue.end(),
          (error: unknown) => queue.end(controller.signal.aborted ? controller.signal.reason : error),
        )
        .finally(() => {
          clearTimeout(timer);
          disconnected.removeEventListener('abort', abandon);
          active.delete(controller);
        });
      active.set(controller, ended);
      // A full queue throws at once; a turn in the queue is returned without waiting.
      await Promise.race([entered, Promise.resolve()]);
      return { events: readEvents(queue), abandon, ended };
    },

    async drain(graceMs) {
      stopping = true;
      const abortAll = () => {
        const reason = new AppError('interrupted', 'The server is stopping.', { hint: 'Ask again later.' });
        for (const controller of active.keys()) controller.abort(reason);
      };
      const timer = setTimeout(abortAll, graceMs);
      if (graceMs <= 0) abortAll();
      await Promise.all(active.values());
      clearTimeout(timer);
    },
  };
}

function turnTimeoutError(turnMs: number): AppError {
  return new AppError('api_error', `The turn took longer than ${Math.round(turnMs / 1000)} seconds.`, {
    hint: advice`Ask a simpler question, or raise ${settingName('turnTimeout')}.`,
    recoverable: true,
  });
}
