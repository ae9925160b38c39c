import { loadavg } from 'node:os';
import { createGate, type Gate } from '../../async/gate.ts';
import { advice, setting } from '../../faults/advice.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import {
  type ChatWrapper,
  type Context,
  type Engine,
  type LoadedModel,
  type Sequence,
  startEngine,
} from './engine.ts';
import { personMarker } from './person-marker.ts';

/** A model in memory, ready to write. */
export interface RunningModel {
  readonly engine: Engine;
  readonly model: LoadedModel;
  readonly wrapper: ChatWrapper;
  readonly contextSize: number;
  /** What a person's message begins with, where that is plain text. */
  readonly personMarker: string | null;
  /** Each keeps what it has read, for requests that begin alike. Those used lately come last. */
  readonly sequences: Sequence[];
  /** One writes at a time: two would share the same processors, and each be half as fast. */
  readonly gate: Gate;
}

export interface ModelChoice {
  /** The whole path of the file. */
  path: string;
  contextSize: number;
  /** Processors to compute with; those that have nothing else to do unless given. */
  threads?: number | undefined;
  engineDirectory: string;
}

/** A model that is in use. */
interface ModelUse {
  /** Loads it, or waits for whoever does. Throws the reason of the signal without waiting any longer. */
  get(signal?: AbortSignal): Promise<RunningModel>;
  /** Whether it is on its way into memory. */
  isLoading(): boolean;
  /** Whoever is the last lets go of the memory; what is still being loaded is stopped. */
  release(): Promise<void>;
}

/** A conversation, and what is asked about it in between: a question that stands on its own. */
export const SEQUENCES = 2;

/** A step begins with its first token: templates that can are told to leave thoughts out. */
const WITHOUT_THOUGHTS = {
  qwen: { thoughts: 'discourage' },
  gemma4: { reasoning: false },
  seed: { thinkingBudget: 0 },
  jinjaTemplate: { reasoning: false },
};

interface Shared {
  users: number;
  loading: Promise<RunningModel> | undefined;
  isLoaded: boolean;
  stop: AbortController;
  /** What there is to let go of, in the order in which it came. */
  held: { dispose(): Promise<void> }[];
}

const shared = new Map<string, Shared>();

/** How many files are in memory, or on their way there. */
export function modelsInUse(): number {
  return [...shared.values()].filter(({ loading }) => loading !== undefined).length;
}

/** One load of a file for the whole process, however many use it. */
export function useModel(choice: ModelChoice): ModelUse {
  const key = JSON.stringify([choice.path, choice.contextSize]);
  const entry: Shared = shared.get(key) ?? {
    users: 0,
    loading: undefined,
    isLoaded: false,
    stop: new AbortController(),
    held: [],
  };
  shared.set(key, entry);
  entry.users += 1;
  let used = true;

  async function dispose(): Promise<void> {
    for (const each of entry.held.splice(0).reverse()) await each.dispose();
  }

  function load(): Promise<RunningModel> {
    const attempt = loadModel(choice, entry);
    attempt.then(
      () => {
        entry.isLoaded = true;
      },
      async () => {
        entry.loading = undefined;
        await dispose();
      },
    );
    return attempt;
  }

  return {
    async get(signal) {
      signal?.throwIfAborted();
      entry.loading ??= load();
      return signal === undefined ? entry.loading : Promise.race([entry.loading, raised(signal)]);
    },
    isLoading: () => entry.loading !== undefined && !entry.isLoaded,
    async release() {
      if (!used) return;
      used = false;
      entry.users -= 1;
      if (entry.users > 0) return;
      shared.delete(key);
      entry.stop.abort();
      await entry.loading?.catch(() => {});
      await dispose();
    },
  };
}

async function loadModel(
  { path, contextSize, threads, engineDirectory }: ModelChoice,
  { held, stop }: Shared,
) {
  const { signal } = stop;
  const engine = await startEngine(engineDirectory);
  try {
    const model = await engine.llama.loadModel({ modelPath: path, loadSignal: signal });
    held.push(model);
    const context = await model.createContext({
      contextSize,
      sequences: SEQUENCES,
      threads: threads ?? idleCores(engine),
      createSignal: signal,
    });
    held.push(context);
    const wrapper = engine.package.resolveChatWrapper(model, {
      warningLogs: false,
      customWrapperSettings: WITHOUT_THOUGHTS,
    });
    return {
      engine,
      model,
      wrapper,
      personMarker: personMarker(model, wrapper),
      contextSize: Math.min(contextSize, context.contextSize),
      sequences: sequencesOf(context),
      gate: createGate({ concurrent: 1 }),
    };
  } catch (error) {
    signal.throwIfAborted();
    throw loadFault(path, contextSize, error);
  }
}

/** Threads wait for each other at every token: one that shares its core with another program keeps all of them waiting. */
export function idleCores({ llama: { cpuMathCores } }: Engine): number {
  const [busy = 0] = loadavg();
  return Math.max(1, Math.round(cpuMathCores - busy));
}

function sequencesOf(context: Context): Sequence[] {
  return Array.from({ length: SEQUENCES }, () => context.getSequence());
}

function loadFault(path: string, contextSize: number, error: unknown): AppError {
  const [reason = ''] = messageOf(error).split('\n');
  if (/memory|alloc/i.test(reason)) {
    return new AppError(
      'configuration_error',
      `${path} with a window of ${contextSize} tokens needs more memory than there is.`,
      {
        hint: advice`Use a smaller model, one that is stored in fewer bits, or a smaller ${setting('contextWindow')}.`,
        cause: error,
      },
    );
  }
  return new AppError('configuration_error', `${path} cannot be loaded (${reason}).`, {
    hint: 'Fetch it again, or use another model: the engine may not know its architecture.',
    cause: error,
  });
}

function raised(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
