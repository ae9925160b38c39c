import { once } from 'node:events';
import { isMainThread, Worker } from 'node:worker_threads';
import { AppError } from '../../faults/app-error.ts';
import { type FaultMessage, fromFaultMessage } from '../../faults/fault-message.ts';
import { closeGate, createNativeGate, type NativeGate } from './native-gate.ts';

/** How the vectors of tokens become the one of the text: their mean or greatest values, or that of the first or last. */
export type Pooling = 'mean' | 'max' | 'cls' | 'last';

export interface ModelSource {
  /** The directory of the native library. */
  engine: string;
  /** The directory of the program's own model, whose bytes are known, or the file of another. */
  weights: { directory: string } | { path: string };
  /** Null where nothing says it: then what the model gives for a whole text is taken, or the mean. */
  pooling: Pooling | null;
  /** How many threads of the library work on one text. */
  threads: number;
  /** Which of several models that work side by side; those of another number share nothing with it. */
  member: number;
}

/** What a thread is started with. */
export interface ThreadData {
  gate: NativeGate;
  /** The directory of the native library where it could be guessed: it is loaded at once. */
  engine: string | null;
}

/** A vector of unit length for the whole, or the numbers as the model gives them. */
type Wanted = 'vector' | 'output';

export type ModelRequest =
  | { load: ModelSource }
  | { id: number; input: readonly number[]; types?: readonly number[] | undefined; wants: Wanted }
  | { stop: true };

type ModelAnswer =
  | { ready: true }
  | { id: number; answer: Float32Array }
  | { id?: number; fault: FaultMessage };

export interface RunningModel {
  /** One vector of unit length for the ids of a text's tokens. */
  embed(input: readonly number[]): Promise<Float32Array>;
  /** What the model gives for one input, as it comes: the vector of every token one after the other, say. */
  encode(input: readonly number[], types?: readonly number[]): Promise<Float32Array>;
  stop(): Promise<void>;
}

interface Waiting {
  resolve(answer: Float32Array): void;
  reject(error: unknown): void;
}

/** The runtime reads the command line of the process with a pattern that recurses: a long question needs a deep stack. */
const STACK_MB = 256;
/** How long the end of the process waits for a thread to come out of the native library; one text takes far less. */
const EXIT_PATIENCE_MS = 10_000;

function startWorker(engine: string | null): Worker {
  silenceTelemetry();
  const gate = createNativeGate();
  const worker = new Worker(workerFile(), {
    workerData: { gate, engine } satisfies ThreadData,
    // What the program was started with need not suit a file: `--input-type`, say.
    execArgv: [],
    resourceLimits: { stackSizeMb: STACK_MB },
  });
  const waitForGate = () => closeGate(gate, EXIT_PATIENCE_MS);
  process.on('exit', waitForGate);
  worker.on('exit', () => process.off('exit', waitForGate));
  return worker;
}

/**
 * The library reports to its maker, and keeps a name for this machine, unless the environment forbids it before it is
 * loaded. The environment of a thread is a copy that the library does not see.
 */
function silenceTelemetry(): void {
  if (isMainThread) {
    process.env.ORT_DISABLE_TELEMETRY = '1';
    return;
  }
  // Node's types do not say what is in a report.
  const { environmentVariables } = process.report.getReport() as {
    environmentVariables?: Record<string, string>;
  };
  if (environmentVariables?.ORT_DISABLE_TELEMETRY === '1') return;
  throw new AppError(
    'configuration_error',
    'The embedding model was asked for in a worker thread, where the telemetry of its engine cannot be switched off.',
    { hint: 'Start the process with ORT_DISABLE_TELEMETRY=1, or use citeloop on the main thread.' },
  );
}

/** A thread that has the runtime and waits to be told where the weights lie. */
let startedAhead: Worker | undefined;

/** Starts the thread before anything else is known: it takes as long as the rest of the program needs to load. */
export function startThreadAhead(engine: string | null): void {
  if (startedAhead !== undefined) return;
  const worker = startWorker(engine);
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

interface SharedModel {
  model: Promise<RunningModel>;
  users: number;
}

/** By what was asked for. */
const shared = new Map<string, SharedModel>();

/**
 * Loads the model in a thread of its own; resolves when it can be used. Throws what is wrong with its file. All who ask
 * for the same share one thread, which ends with the last of them: the weights take long to load, and room.
 */
export async function startModel(source: ModelSource): Promise<RunningModel> {
  const key = JSON.stringify(source);
  const entry = shared.get(key) ?? { model: loadModel(source, forget), users: 0 };
  shared.set(key, entry);
  entry.users += 1;
  const model = await entry.model;
  let stopped = false;
  return {
    embed: model.embed,
    encode: model.encode,
    async stop() {
      if (stopped) return;
      stopped = true;
      entry.users -= 1;
      if (entry.users > 0) return;
      forget();
      await model.stop();
    },
  };

  function forget(): void {
    if (shared.get(key) === entry) shared.delete(key);
  }
}

async function loadModel(source: ModelSource, onEnd: () => void): Promise<RunningModel> {
  const worker = startedAhead ?? startWorker(source.engine);
  startedAhead = undefined;
  worker.ref();
  const waiting = new Map<number, Waiting>();
  let nextId = 0;
  let stopping = false;

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (answer: ModelAnswer) => {
      if ('ready' in answer) return resolve();
      const caller = answer.id === undefined ? undefined : waiting.get(answer.id);
      if (answer.id !== undefined) waiting.delete(answer.id);
      if ('answer' in answer) caller?.resolve(answer.answer);
      else (caller ?? { reject }).reject(fromFaultMessage(answer.fault));
    });
    worker.on('error', (error) => {
      onEnd();
      reject(error);
      for (const caller of waiting.values()) caller.reject(error);
      waiting.clear();
    });
    worker.on('exit', () => reject(new Error('the thread of the model ended early')));
    worker.postMessage({ load: source } satisfies ModelRequest);
  }).catch(async (error: unknown) => {
    onEnd();
    await stopWorker(worker);
    throw error;
  });
  // From here on it lives as long as someone waits for it.
  worker.unref();

  async function ask(
    input: readonly number[],
    wants: Wanted,
    types?: readonly number[],
  ): Promise<Float32Array> {
    const id = nextId++;
    worker.ref();
    try {
      return await new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, input, types, wants } satisfies ModelRequest);
      });
    } finally {
      if (waiting.size === 0 && !stopping) worker.unref();
    }
  }

  return {
    embed: (input) => ask(input, 'vector'),
    encode: (input, types) => ask(input, 'output', types),
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
