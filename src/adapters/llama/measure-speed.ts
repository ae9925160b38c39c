import type { Token } from './engine.ts';
import { type ModelChoice, type RunningModel, useModel } from './shared-models.ts';

const TEXT = 'A model reads what it is given, word by word, before it writes a word of its own. '.repeat(20);
const TOKENS_READ = 256;
const TOKENS_WRITTEN = 48;

/** How many tokens a model reads and writes in a second on this machine. Loads it for as long as that takes. */
export async function measureSpeed(
  choice: Omit<ModelChoice, 'contextSize'>,
  signal: AbortSignal,
): Promise<{ read: number; written: number }> {
  const use = useModel({ ...choice, contextSize: TOKENS_READ + TOKENS_WRITTEN });
  try {
    const running = await use.get(signal);
    const leave = await running.gate.enter(signal);
    try {
      return await timed(running, signal);
    } finally {
      leave();
    }
  } finally {
    await use.release();
  }
}

async function timed({ model, wrapper, sequences: [sequence] }: RunningModel, signal: AbortSignal) {
  if (sequence === undefined) throw new Error('A context has a sequence at least.');
  const tokens = promptOf({ model, wrapper }).slice(0, TOKENS_READ);
  // The first of it wakes what was asleep, and is not counted.
  await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(0, 1));
  const start = performance.now();
  await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(1, -1));
  const afterReading = performance.now();
  let written = 0;
  const options = { temperature: 0, seed: 0, yieldEogToken: true };
  for await (const _ of sequence.evaluate(tokens.slice(-1), options)) {
    signal.throwIfAborted();
    written += 1;
    if (written >= TOKENS_WRITTEN) break;
  }
  const end = performance.now();
  return {
    read: perSecond(tokens.length - 2, afterReading - start),
    written: perSecond(written, end - afterReading),
  };
}

function promptOf({ model, wrapper }: Pick<RunningModel, 'model' | 'wrapper'>): Token[] {
  const chatHistory = [
    { type: 'user' as const, text: TEXT },
    { type: 'model' as const, response: [] },
  ];
  return wrapper.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer);
}

function perSecond(tokens: number, milliseconds: number): number {
  return Number(((tokens / milliseconds) * 1000).toPrecision(3));
}
