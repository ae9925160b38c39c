import { availableParallelism } from 'node:os';
import type { ModelSource, ModelThreads, RunningModel } from './model-threads.ts';

/** Further copies of the model would take memory and gain little. */
const MAX_MODELS = 4;
/** For fewer texts, loading further copies takes longer than it saves. */
const MIN_TEXTS_TO_GROW = 8;
/** Each worker has one text to run and one queued. */
const TEXTS_PER_MODEL = 2;

interface ModelPool extends RunningModel {
  /** One result per input, in order, of the least busy copy. Throws the signal's reason when it is aborted. */
  runAll<Input, Output>(
    inputs: readonly Input[],
    run: (model: RunningModel, input: Input) => Promise<Output>,
    signal?: AbortSignal,
  ): Promise<Output[]>;
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

  async function runOne<Output>(run: (model: RunningModel) => Promise<Output>): Promise<Output> {
    const leastBusy = running.reduce((a, b) => (b.texts < a.texts ? b : a));
    leastBusy.texts += 1;
    try {
      return await run(leastBusy.model);
    } finally {
      leastBusy.texts -= 1;
    }
  }

  async function runAll<Input, Output>(
    inputs: readonly Input[],
    run: (model: RunningModel, input: Input) => Promise<Output>,
    signal?: AbortSignal,
  ): Promise<Output[]> {
    if (inputs.length >= MIN_TEXTS_TO_GROW) grow();
    const outputs = new Array<Output>(inputs.length);
    const next = eachWithIndex(inputs);
    async function runNext(): Promise<void> {
      for (const [index, input] of next) {
        signal?.throwIfAborted();
        outputs[index] = await runOne((model) => run(model, input));
      }
    }
    signal?.throwIfAborted();
    await Promise.all(Array.from({ length: maxModels * TEXTS_PER_MODEL }, runNext));
    return outputs;
  }

  return {
    embed: (input) => runOne((model) => model.embed(input)),
    embedWords: (input, words) => runOne((model) => model.embedWords(input, words)),
    encode: first.model.encode,
    runAll,
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
