import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { AppError, type ErrorKind } from '../../domain/app-error.ts';

export interface ModelSource {
  directory: string;
  dimensions: number;
  /** Whether its threads wait for work by spinning: faster for many texts, at the cost of whatever else runs. */
  spinning: boolean;
}

export type ModelRequest =
  | { load: ModelSource }
  | { id: number; inputs: readonly number[][] }
  | { stop: true };

/** An error on its way between threads; `kind` is null if it was not an AppError. */
export interface ModelFault {
  kind: ErrorKind | null;
  message: string;
  hint: string | undefined;
}

type ModelAnswer =
  | { ready: true }
  | { id: number; vectors: Float32Array[] }
  | { id?: number; fault: ModelFault };

export interface RunningModel {
  /** One vector of unit length for each list of token ids. */
  embed(inputs: readonly number[][]): Promise<Float32Array[]>;
  stop(): Promise<void>;
}

interface Waiting {
  resolve(vectors: Float32Array[]): void;
  reject(error: unknown): void;
}

/** The runtime reads the command line of the process with a pattern that recurses: a long question needs a deep stack. */
const STACK_MB = 256;

function startWorker(): Worker {
  return new Worker(workerFile(), { resourceLimits: { stackSizeMb: STACK_MB } });
}

/** A thread that has the runtime and waits to be told where the weights lie. */
let startedAhead: Worker | undefined;

/** Starts the thread before anything else is known: it takes as long as the rest of the program needs to load. */
export function startThreadAhead(): void {
  if (startedAhead !== undefined) return;
  const worker = startWorker();
  // Whoever loads a model in it will hear of the fault that there is.
  worker.on('error', () => {});
  worker.unref();
  startedAhead = worker;
}

/** Ends the thread that was started ahead if nobody has taken it. */
export async function endUnusedThread(): Promise<void> {
  if (startedAhead === undefined) return;
  const worker = startedAhead;
  startedAhead = undefined;
  await stopWorker(worker);
}

/** Loads the model in a thread of its own; resolves when it can be used. Throws what is wrong with its file. */
export async function startModel(source: ModelSource): Promise<RunningModel> {
  const worker = startedAhead ?? startWorker();
  startedAhead = undefined;
  worker.ref();
  const waiting = new Map<number, Waiting>();
  let nextId = 0;
  let stopping = false;

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (answer: ModelAnswer) => {
      if ('ready' in answer) return resolve();
      const asked = answer.id === undefined ? undefined : waiting.get(answer.id);
      if (answer.id !== undefined) waiting.delete(answer.id);
      if ('vectors' in answer) asked?.resolve(answer.vectors);
      else (asked ?? { reject }).reject(toError(answer.fault));
    });
    worker.on('error', (error) => {
      reject(error);
      for (const asked of waiting.values()) asked.reject(error);
      waiting.clear();
    });
    worker.on('exit', () => reject(new Error('the thread of the model ended early')));
    worker.postMessage({ load: source } satisfies ModelRequest);
  }).catch(async (error: unknown) => {
    await stopWorker(worker);
    throw error;
  });
  // From here on it lives as long as someone waits for it.
  worker.unref();

  return {
    async embed(inputs) {
      const id = nextId++;
      worker.ref();
      try {
        return await new Promise<Float32Array[]>((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          worker.postMessage({ id, inputs } satisfies ModelRequest);
        });
      } finally {
        if (waiting.size === 0 && !stopping) worker.unref();
      }
    },
    stop() {
      stopping = true;
      return stopWorker(worker);
    },
  };
}

/** Asked, not terminated: a thread that is torn out of the native runtime takes the process with it. */
async function stopWorker(worker: Worker): Promise<void> {
  // One that has ended by itself has no id any more.
  if (worker.threadId === -1) return;
  worker.ref();
  const ended = once(worker, 'exit');
  worker.postMessage({ stop: true } satisfies ModelRequest);
  await ended;
}

/** Beside this file, as a source or as a part of the bundle. */
function workerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? './model-worker.ts' : './model-worker.js',
    import.meta.url,
  );
}

function toError({ kind, message, hint }: ModelFault): Error {
  if (kind === null) return new Error(message);
  return new AppError(kind, message, hint === undefined ? {} : { hint });
}
