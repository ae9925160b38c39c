import { setImmediate } from 'node:timers/promises';
import { createEventQueue, eventsOf } from '../../async/event-queue.ts';
import { createGate } from '../../async/gate.ts';
import type { RunEvent } from '../../domain/run-event.ts';
import { advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';
import { RequestFault } from '../http/request-fault.ts';
import type { Metrics, TurnOutcome } from './metrics.ts';

export interface TurnLimits {
  /** Turns that run at the same time. */
  concurrent: number;
  /** Turns that may wait for their place; more are refused. */
  waiting: number;
  /** For a turn from its question to its end, waiting included. */
  turnMs: number;
}

/** That a turn has to wait, and behind how many. */
export interface WaitingEvent {
  type: 'waiting';
  ahead: number;
}

export interface StartedTurn {
  events: AsyncGenerator<RunEvent | WaitingEvent, void, undefined>;
  /** Nobody listens any more. */
  abandon(): void;
  /** When the turn is over, whether it ever began or not. Never rejects. */
  ended: Promise<void>;
}

/** Takes a turn: emits what happens, and ends with it. */
type Ask = (emit: (event: RunEvent) => void, signal: AbortSignal) => Promise<void>;

/** Runs turns within limits, whether or not somebody reads along, and ends them when their client has gone. */
export interface TurnRunner {
  readonly running: number;
  readonly waiting: number;
  /** Throws a fault when there is no place, not even to wait, or when the server is stopping. */
  start(ask: Ask, gone: AbortSignal): Promise<StartedTurn>;
  /** Takes no more turns; those that run may finish within `graceMs`, then they are ended. */
  drain(graceMs: number): Promise<void>;
}

/** Rounds of the event loop that a turn waits at most for requests to be read. */
const MOST_ROUNDS = 500;
/** A connection is accepted in one round and read in the next. */
const QUIET_ROUNDS = 2;

export function createTurnRunner({ turnMs, ...limits }: TurnLimits, metrics: Metrics): TurnRunner {
  const gate = createGate({ ...limits, whenFull: queueFull });
  const active = new Map<AbortController, Promise<void>>();
  let stopping = false;
  let arrived = 0;

  /**
   * Questions are read before turns begin. Turns compute for long stretches, between which few connections are
   * accepted: whoever is not read yet can neither wait in line nor be refused, and others would overtake.
   */
  async function untilAllAreRead(): Promise<void> {
    let quiet = 0;
    for (let round = 0; round < MOST_ROUNDS && quiet < QUIET_ROUNDS; round += 1) {
      const before = arrived;
      await setImmediate();
      quiet = arrived === before ? quiet + 1 : 0;
    }
  }

  async function run(
    ask: Ask,
    { signal }: AbortController,
    entered: Promise<() => void>,
    push: (event: RunEvent) => void,
  ): Promise<void> {
    const started = performance.now();
    let outcome: TurnOutcome = 'failed';
    const release = await entered;
    try {
      await untilAllAreRead();
      await ask((event) => {
        if (event.type === 'turn_completed') {
          outcome = 'completed';
          metrics.answered(event.turn.response);
        }
        push(event);
      }, signal);
    } catch (error) {
      if (signal.aborted) outcome = 'interrupted';
      throw error;
    } finally {
      release();
      metrics.turnEnded(outcome, (performance.now() - started) / 1000);
    }
  }

  return {
    get running() {
      return gate.running;
    },
    get waiting() {
      return gate.waiting;
    },

    async start(ask, gone) {
      if (stopping) throw stoppingFault();
      arrived += 1;
      const controller = new AbortController();
      const abandon = () => controller.abort(new AppError('interrupted', 'The client has gone.'));
      if (gone.aborted) abandon();
      gone.addEventListener('abort', abandon);
      const timer = setTimeout(() => controller.abort(outOfTime(turnMs)), turnMs);
      const queue = createEventQueue<RunEvent | WaitingEvent>();
      const entered = gate.enter(controller.signal, (ahead) => queue.push({ type: 'waiting', ahead }));
      const ended = run(ask, controller, entered, queue.push)
        .then(
          () => queue.end(),
          (error: unknown) => queue.end(controller.signal.aborted ? controller.signal.reason : error),
        )
        .finally(() => {
          clearTimeout(timer);
          gone.removeEventListener('abort', abandon);
          active.delete(controller);
        });
      active.set(controller, ended);
      // A full queue is told at once, a place in it is not waited for.
      await Promise.race([entered, Promise.resolve()]).catch((error: unknown) => {
        if (error instanceof RequestFault) metrics.refused();
        throw error;
      });
      return { events: eventsOf(queue), abandon, ended };
    },

    async drain(graceMs) {
      stopping = true;
      const stop = () => {
        for (const controller of active.keys()) {
          controller.abort(
            new AppError('interrupted', 'The server is stopping.', { hint: 'Ask again later.' }),
          );
        }
      };
      const timer = setTimeout(stop, graceMs);
      if (graceMs <= 0) stop();
      await Promise.all(active.values());
      clearTimeout(timer);
    },
  };
}

function queueFull(retryAfter: number): RequestFault {
  return new RequestFault(429, 'Too many questions are waiting to be answered.', {
    code: 'queue_full',
    retryAfter,
  });
}

function stoppingFault(): RequestFault {
  return new RequestFault(503, 'The server is stopping.', { code: 'stopping', retryAfter: 5 });
}

function outOfTime(turnMs: number): AppError {
  return new AppError(
    'api_error',
    `The turn took longer than the ${Math.round(turnMs / 1000)} seconds allowed.`,
    {
      hint: advice`Ask something simpler, or raise ${setting('turnTimeout')}.`,
      recoverable: true,
    },
  );
}
