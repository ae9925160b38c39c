import { availableParallelism } from 'node:os';
import type { ModelSource, ModelThreads, RunningModel } from './model-threads.ts';

/** Further copies of the model would take memory and gain little. */
const MAX_MODELS = 4;
/** For fewer texts, loading further copies takes longer than it saves. */
const MIN_TEXTS_TO_GROW = 8;
/** Each worker has one text to run and one queued. */
const TEXTS_PER_MODEL = 2;

interface ModelPool extends RunningModel {
  /** One vector per input, in order. Throws the signal's reason when it is aborted. */
  embedAll(inputs: readonly (readonly number[])[], signal?: AbortSignal): Promise<Float32Array[]>;
}

/**
 * A model in one worker, and in several once many texts are embedded: each text is run on its own, and several texts at
 * once on few threads each are faster than one at a time on all threads.
 */
export async function startModelPool(
  modelThreads: ModelThreads,
  { bulk, ...source }: Omit<ModelSource, 'threads' | 'member'> & { bulk: boolean },
): Promise<ModelPool> {
  const cores = availableParallelism();
  const maxModels = bulk ? Math.min(cores, MAX_MODELS) : 1;
  const start = async (member: number) => ({
    model: await modelThreads.load({ ...source, member, threads: Math.floor(cores / maxModels) }),
    texts: 0,
  });
  const first = await start(0);
  const running = [first];
  let growing: Promise<unknown> | undefined;

  /** Copies that fail to start are left out. */
  function grow(): void {
    growing ??= Promise.allSettled(
      Array.from({ length: maxModels - 1 }, async (_, index) => void running.push(await start(index + 1))),
    );
  }

  async function embed(input: readonly number[]): Promise<Float32Array> {
    const leastBusy = running.reduce((a, b) => (b.texts < a.texts ? b : a));
    leastBusy.texts += 1;
    try {
      return await leastBusy.model.embed(input);
    } finally {
      leastBusy.texts -= 1;
    }
  }

  async function embedAll(
    inputs: readonly (readonly number[])[],
    signal?: AbortSignal,
  ): Promise<Float32Array[]> {
    if (inputs.length >= MIN_TEXTS_TO_GROW) grow();
    const vectors = new Array<Float32Array>(inputs.length);
    const next = eachWithIndex(inputs);
    async function embedNext(): Promise<void> {
      for (const [index, input] of next) {
        signal?.throwIfAborted();
        vectors[index] = await embed(input);
      }
    }
    signal?.throwIfAborted();
    await Promise.all(Array.from({ length: maxModels * TEXTS_PER_MODEL }, embedNext));
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

/** Read by several loops at once. Unlike an array's iterator, it ends for all of them once one fails. */
function* eachWithIndex<T>(items: readonly T[]): Generator<[number, T]> {
  yield* items.entries();
}
