import { type Sequence, startEngine, type Token } from '../../src/adapters/llama/engine.ts';
import {
  createLlamaService,
  LLAMA_ADDRESS,
  type LlamaService,
} from '../../src/adapters/llama/llama-service.ts';
import { idleCores, type RunningModel, useModel } from '../../src/adapters/llama/shared-models.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { ensureTinyLlama } from '../../test/support/tiny-llama.ts';
import { median } from '../support/measure.ts';
import { type Row, row } from '../support/results.ts';

const ROUNDS = 15;
const TOKENS = 24;
const WINDOW = 2048;

const SYSTEM = {
  role: 'system',
  content: `${'You answer questions from documents, in short sentences, and cite what you use. '.repeat(12)}\nTell long stories.`,
};
const QUESTION = { role: 'user', content: 'Tell me about robots, as much as you can.' };

/** A model in the process against its bare engine: loaded, in memory, tokens a second, and the first word of two turns. */
export async function benchLlama(): Promise<Row[]> {
  const { engineDir, threads: given } = loadConfig();
  // Both get as many, whatever the load comes to meanwhile.
  const threads = given ?? idleCores(await startEngine(engineDir));
  const choice = { path: await ensureTinyLlama(), contextSize: WINDOW, threads, engineDirectory: engineDir };
  const before = process.memoryUsage.rss();
  const started = performance.now();
  const use = useModel(choice);
  const service = createLlamaService(choice);
  try {
    const running = await use.get();
    const loadMs = performance.now() - started;
    const first = await answered(service, [SYSTEM, QUESTION], 8);
    const followUp = [
      SYSTEM,
      QUESTION,
      { role: 'assistant', content: first.text },
      { role: 'user', content: 'And planes?' },
    ];
    const second = await answered(service, followUp, 8);
    const memory = (process.memoryUsage.rss() - before) / 1e6;
    const { bare, ours, ratio } = await rates(running, service, threads);
    return [
      row('llama: load TinyLlama 1.1B (323 MB), file in the cache of the system', loadMs, 'ms'),
      row('llama: memory with a window of 2048 tokens', memory, 'MB'),
      row('llama: tokens a second of the bare engine', bare, '/s'),
      row('llama: tokens a second by the grammar of an answer', ours, '/s', {
        ratio,
        target: { of: 'ratio', atLeast: 0.95 },
      }),
      row(`llama: first word of turn 1, ${first.promptTokens} tokens read`, first.firstMs, 'ms'),
      row(
        `llama: first word of turn 2, ${second.promptTokens - second.keptTokens} of ${second.promptTokens} tokens read`,
        second.firstMs,
        'ms',
        { ratio: second.firstMs / first.firstMs },
      ),
    ];
  } finally {
    await service.close();
    await use.release();
  }
}

/** By turns, so that what else the machine does hits both. */
async function rates(running: RunningModel, service: LlamaService, threads: number) {
  const context = await running.model.createContext({
    contextSize: WINDOW,
    sequences: 1,
    threads,
    createSignal: new AbortController().signal,
  });
  try {
    const sequence = context.getSequence();
    const history = [
      { type: 'system' as const, text: SYSTEM.content },
      { type: 'user' as const, text: QUESTION.content },
    ];
    const chatHistory = [...history, { type: 'model' as const, response: [] }];
    const prompt = running.wrapper
      .generateContextState({ chatHistory })
      .contextText.tokenize(running.model.tokenizer);
    const measured = { bare: [] as number[], ours: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      measured.bare.push(await bareRate(sequence, prompt));
      const { tokens, writingMs } = await answered(service, [SYSTEM, QUESTION], TOKENS);
      measured.ours.push(((tokens - 1) * 1000) / writingMs);
    }
    const ratios = measured.ours.map((rate, round) => rate / (measured.bare[round] as number));
    return { bare: median(measured.bare), ours: median(measured.ours), ratio: median(ratios) };
  } finally {
    await context.dispose();
  }
}

async function bareRate(sequence: Sequence, prompt: readonly Token[]): Promise<number> {
  await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
  let tokens = 0;
  let started = 0;
  const options = { temperature: 0, seed: 1, yieldEogToken: true };
  for await (const _ of sequence.evaluate(prompt.slice(sequence.nextTokenIndex), options)) {
    if (tokens === 0) started = performance.now();
    tokens += 1;
    if (tokens === TOKENS) break;
  }
  return ((tokens - 1) * 1000) / (performance.now() - started);
}

async function answered(service: LlamaService, messages: object[], maxTokens: number) {
  const started = performance.now();
  const { body } = await service.fetch(`${LLAMA_ADDRESS}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ messages, stream: true, max_tokens: maxTokens }),
  });
  let wire = '';
  let [firstAt, lastAt] = [0, 0];
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    if (piece.includes('"content"')) {
      lastAt = performance.now();
      firstAt ||= lastAt;
    }
    wire += piece;
  }
  const number = (name: string) => Number(new RegExp(`"${name}":(\\d+)`).exec(wire)?.[1]);
  const deltas = Array.from(wire.matchAll(/"content":("(?:[^"\\]|\\.)*")/g), ([, text = '']) =>
    JSON.parse(text),
  );
  return {
    text: deltas.join(''),
    firstMs: firstAt - started,
    writingMs: lastAt - firstAt,
    tokens: number('completion_tokens'),
    promptTokens: number('prompt_tokens'),
    keptTokens: number('cached_tokens'),
  };
}
