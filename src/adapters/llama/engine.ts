import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { installAdvice, requireEngine } from './engine-package.ts';
import type { ChatItem } from './read-chat-request.ts';

/*
 * As much of node-llama-cpp as is used here. It is no dependency, so its own types are not there.
 */

export type Token = number & { readonly token: unique symbol };

interface Disposable {
  dispose(): Promise<void>;
}

export interface Sequence {
  readonly contextTokens: readonly Token[];
  /** How many tokens of the state are kept. */
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: readonly Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly Token[]): Promise<void>;
  evaluate(tokens: readonly Token[], options: EvaluateOptions): AsyncGenerator<Token, void, void>;
}

interface EvaluateOptions {
  temperature: number;
  seed: number;
  grammarEvaluationState?: object;
  yieldEogToken: boolean;
  repeatPenalty?: { punishTokens: () => Token[]; penalty: number };
}

export interface Context extends Disposable {
  readonly contextSize: number;
  getSequence(): Sequence;
}

export interface LoadedModel extends Disposable {
  readonly tokenizer: unknown;
  detokenize(tokens: readonly Token[], specialTokens?: boolean, lastTokens?: readonly Token[]): string;
  isEogToken(token: Token): boolean;
  isSpecialToken(token: Token): boolean;
  createContext(options: {
    contextSize: number;
    sequences: number;
    threads: number;
    createSignal: AbortSignal;
  }): Promise<Context>;
}

export interface ChatWrapper {
  generateContextState(options: { chatHistory: readonly ChatItem[] }): {
    contextText: { tokenize(tokenizer: unknown): Token[] };
  };
}

interface Llama extends Disposable {
  readonly gpu: string | false;
  /** How many are good for it: of a pair that shares its units, one. */
  readonly cpuMathCores: number;
  loadModel(options: { modelPath: string; loadSignal: AbortSignal }): Promise<LoadedModel>;
  createGrammar(options: { grammar: string }): Promise<object>;
}

interface EnginePackage {
  getLlama(options: {
    gpu: 'auto' | false;
    build: 'never';
    skipDownload: true;
    progressLogs: false;
    logLevel: 'disabled';
    maxThreads: number;
  }): Promise<Llama>;
  resolveChatWrapper(
    model: LoadedModel,
    options: { warningLogs: false; customWrapperSettings: Readonly<Record<string, object>> },
  ): ChatWrapper;
  LlamaGrammarEvaluationState: new (options: { model: LoadedModel; grammar: object }) => object;
}

/** The engine as it runs in this process. */
export interface Engine {
  readonly llama: Llama;
  readonly package: EnginePackage;
}

let running: Promise<Engine> | undefined;

/** One for the process, whoever asks first: its library cannot be loaded twice. A failure is forgotten. */
export function startEngine(engineDirectory: string): Promise<Engine> {
  const starting = running ?? start(engineDirectory);
  running = starting;
  starting.catch(() => {
    running = undefined;
  });
  return starting;
}

async function start(engineDirectory: string): Promise<Engine> {
  const { directory } = requireEngine(engineDirectory);
  try {
    const module: EnginePackage = await import(pathToFileURL(join(directory, 'dist/index.js')).href);
    const llama = await module.getLlama({
      gpu: 'auto',
      build: 'never',
      skipDownload: true,
      progressLogs: false,
      logLevel: 'disabled',
      // As many as are asked for: those of each context are told to it.
      maxThreads: 0,
    });
    return { llama, package: module };
  } catch (error) {
    throw new AppError(
      'configuration_error',
      `The engine in ${directory} does not run on this machine (${messageOf(error).split('\n')[0]}).`,
      { hint: installAdvice(engineDirectory), cause: error },
    );
  }
}
