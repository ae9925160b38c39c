import { once } from 'node:events';
import { isMainThread, type Worker } from 'node:worker_threads';
import { connectToWorker, startWorker, type WorkerChannel } from '../../async/worker-channel.ts';
import { AppError } from '../../faults/app-error.ts';
import type { TextEmbedding } from '../../ports/embedder.ts';
import type { EngineLocation } from './engine.ts';
import { closeNativeGate, createNativeGate, type NativeGate } from './native-gate.ts';
import type { TokenRange } from './project-words.ts';

/** How the vectors of tokens are combined into one: their mean or maximum, or that of the first or last token. */
export type Pooling = 'mean' | 'max' | 'cls' | 'last';

export interface ModelSource {
  /** The native library. */
  engine: EngineLocation;
  /** The directory of the built-in model, whose hashes are known, or the file of another model. */
  weights: { directory: string; isCached?: boolean } | { path: string };
  /** Null if not configured: then the model's sentence embedding is used if it has one, or else the mean. */
  pooling: Pooling | null;
  /** How many threads of the native library work on one text. */
  threads: number;
  /** The number of this copy of the model; copies with different numbers share nothing. */
  member: number;
}

export interface ModelWorkerData {
  gate: NativeGate;
  /** The native library if it is known already: it is then loaded at once. */
  engine: EngineLocation | null;
}

export type ModelWorkerRequest =
  | { load: ModelSource }
  /** A unit vector for the whole input, or the output of the model unchanged. */
  | { input: readonly number[]; types?: readonly number[] | undefined; wants: 'vector' | 'output' }
  /** A unit vector for the whole input, and word vectors for these tokens. */
  | { input: readonly number[]; words: readonly TokenRange[] }
  | { stop: true };

export interface RunningModel {
  embed(input: readonly number[]): Promise<Float32Array>;
  embedWords(input: readonly number[], words: readonly TokenRange[]): Promise<TextEmbedding>;
  /** The output of the model unchanged: for example the concatenated vectors of all tokens. */
  encode(input: readonly number[], types?: readonly number[]): Promise<Float32Array>;
  stop(): Promise<void>;
}

/** The worker threads of a process that run ONNX models. */
export interface ModelThreads {
  /** Starts an idle worker early, so that it is ready when a model is loaded. */
  prestart(engine: EngineLocation | null): void;
  /** Stops the idle worker if no model was loaded in it. */
  stopIfIdle(): Promise<void>;
  /**
   * Loads a model in a new worker. Callers with the same source share one worker, which ends when the last of
   * them calls `stop`. Throws what is wrong with the model's file.
   */
  load(source: ModelSource): Promise<RunningModel>;
}

export function createModelThreads(): ModelThreads {
  const loaded = new Map<string, { model: Promise<RunningModel>; users: number }>();
  let idle: ModelThread | undefined;

  function takeThread(engine: EngineLocation): ModelThread {
    const thread = idle ?? startModelThread(engine);
    idle = undefined;
    return thread;
  }

  return {
    prestart(engine) {
      if (idle !== undefined) return;
      idle = startModelThread(engine);
      idle.worker.unref();
    },
    async stopIfIdle() {
      if (idle === undefined) return;
      const thread = idle;
      idle = undefined;
      await stopThread(thread);
    },
    async load(source) {
      const key = JSON.stringify({ ...source, engine: source.engine.directory });
      const forget = () => {
        if (loaded.get(key) === entry) loaded.delete(key);
      };
      const entry = loaded.get(key) ?? {
        model: loadModel(takeThread(source.engine), source, forget),
        users: 0,
      };
      loaded.set(key, entry);
      entry.users += 1;
      const model = await entry.model;
      let stopped = false;
      return {
        ...model,
        async stop() {
          if (stopped) return;
          stopped = true;
          entry.users -= 1;
          if (entry.users > 0) return;
          forget();
          await model.stop();
        },
      };
    },
  };
}

/** ONNX Runtime matches the command line with a recursive pattern, so a long question needs a deep stack. */
const STACK_MB = 256;
/** How long the end of the process waits for a running inference, which takes far less. */
const EXIT_WAIT_MS = 10_000;

interface ModelThread {
  worker: Worker;
  channel: WorkerChannel<ModelWorkerRequest, unknown>;
}

function startModelThread(engine: EngineLocation | null): ModelThread {
  disableTelemetry();
  const gate = createNativeGate();
  const worker = startWorker(import.meta.url, 'model-worker', {
    workerData: { gate, engine } satisfies ModelWorkerData,
    resourceLimits: { stackSizeMb: STACK_MB },
  });
  const waitForGate = () => closeNativeGate(gate, EXIT_WAIT_MS);
  process.on('exit', waitForGate);
  worker.on('exit', () => process.off('exit', waitForGate));
  return { worker, channel: connectToWorker(worker) };
}

/**
 * ONNX Runtime sends telemetry and stores a machine id unless the environment forbids it before it is loaded. The
 * library does not see the environment of a worker, which is a copy.
 */
function disableTelemetry(): void {
  if (isMainThread) {
    process.env.ORT_DISABLE_TELEMETRY = '1';
    return;
  }
  // Node's types do not describe the report.
  const { environmentVariables } = process.report.getReport() as {
    environmentVariables?: Record<string, string>;
  };
  if (environmentVariables?.ORT_DISABLE_TELEMETRY === '1') return;
  throw new AppError(
    'configuration_error',
    'The telemetry of ONNX Runtime cannot be disabled from a worker thread, so the embedding model is not loaded.',
    { hint: 'Start the process with ORT_DISABLE_TELEMETRY=1, or use citeloop on the main thread.' },
  );
}

async function loadModel(thread: ModelThread, source: ModelSource, onEnd: () => void): Promise<RunningModel> {
  const { worker, channel } = thread;
  let stopping = false;
  worker.on('error', onEnd);
  worker.ref();
  try {
    await channel.request({ load: source });
  } catch (error) {
    onEnd();
    await stopThread(thread);
    throw error;
  }
  // An idle model does not keep the process alive.
  worker.unref();

  async function run<Response>(request: ModelWorkerRequest): Promise<Response> {
    worker.ref();
    try {
      return (await channel.request(request)) as Response;
    } finally {
      if (channel.pendingCount() === 0 && !stopping) worker.unref();
    }
  }

  return {
    embed: (input) => run({ input, wants: 'vector' }),
    embedWords: (input, words) => run({ input, words }),
    encode: (input, types) => run({ input, types, wants: 'output' }),
    stop() {
      stopping = true;
      return stopThread(thread);
    },
  };
}

/** Asks the worker to end: terminating a thread inside the native library would abort the process. */
async function stopThread({ worker, channel }: ModelThread): Promise<void> {
  // A worker that has ended has no thread id.
  if (worker.threadId === -1) return;
  worker.ref();
  const ended = once(worker, 'exit');
  channel.request({ stop: true }).catch(() => {});
  await ended;
}
