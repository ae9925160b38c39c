import { availableParallelism } from 'node:os';
import type { ModelSource, ModelThreads, RunningModel } from './model-threads.ts';

/** More threads would each hold the weights once more, and gain little. */
const MOST_MODELS = 4;
/** From this many texts on, loading the model again is soon made up for. */
const MANY_TEXTS = 8;
/** What each thread is given at a time: one text to work on, and the next. */
const TEXTS_AHEAD = 2;

interface PoolSource extends Omit<ModelSource, 'threads' | 'member'> {
  /** Whether many texts are to be expected. */
  bulk: boolean;
}

export interface ModelPool extends RunningModel {
  /** One vector for each input, in the same order. Stops early when the signal is raised. */
  embedAll(inputs: readonly (readonly number[])[], signal?: AbortSignal): Promise<Float32Array[]>;
}

/**
 * The model in a thread of its own, and in more of them once many texts come: a text is run by itself, and several
 * texts side by side, each by few threads of the library, take less time than one after the other by all of them.
 */
export async function startModelPool(
  modelThreads: ModelThreads,
  { bulk, ...source }: PoolSource,
): Promise<ModelPool> {
  const cores = availableParallelism();
  const most = bulk ? Math.min(cores, MOST_MODELS) : 1;
  const start = async (member: number) => ({
    model: await modelThreads.load({ ...source, member, threads: Math.floor(cores / most) }),
    texts: 0,
  });
  const first = await start(0);
  const running = [first];
  let growing: Promise<unknown> | undefined;

  /** Those that cannot be started are done without. */
  function grow(): void {
    growing ??= Promise.allSettled(
      Array.from({ length: most - 1 }, async (_, index) => void running.push(await start(index + 1))),
    );
  }

  async function embed(input: readonly number[]): Promise<Float32Array> {
    const least = running.reduce((a, b) => (b.texts < a.texts ? b : a));
    least.texts += 1;
    try {
      return await least.model.embed(input);
    } finally {
      least.texts -= 1;
    }
  }

  async function embedAll(
    inputs: readonly (readonly number[])[],
    signal?: AbortSignal,
  ): Promise<Float32Array[]> {
    if (inputs.length >= MANY_TEXTS) grow();
    const vectors = new Array<Float32Array>(inputs.length);
    const next = eachWithIndex(inputs);
    async function embedNext(): Promise<void> {
      for (const [index, input] of next) {
        signal?.throwIfAborted();
        vectors[index] = await embed(input);
      }
    }
    signal?.throwIfAborted();
    await Promise.all(Array.from({ length: most * TEXTS_AHEAD }, embedNext));
    return vectors;
  }

  return {
    embed,
    embedAll,
    encode: first.model.encode,
    async stop() {
      await growing;
      await Promise.all(running.map(({ model }) => model.stop()));
    },
  };
}

/** Read by several loops at once. Unlike an array's own, it has nothing left for the others once one of them fails. */
function* eachWithIndex<T>(items: readonly T[]): Generator<[number, T]> {
  yield* items.entries();
}
