import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { type InferenceSession, Tensor, type TensorConstructor } from 'onnxruntime-common';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { BINDING } from './engine.ts';

const LOG_WARNINGS = 2;
/** How ONNX numbers the types of tensors. */
const FLOAT = 1;
const INT32 = 6;

/** What the native library gives. The JavaScript that comes with it wraps the same calls into promises. */
interface Binding {
  initOrtOnce(logLevel: number, tensor: TensorConstructor, isMainThread: boolean): void;
  InferenceSession: new () => NativeSession;
}

interface ValueMetadata {
  name: string;
  /** As ONNX numbers them; absent where it is no tensor. */
  type?: number;
  /** A negative number where any will do. */
  shape?: readonly number[];
}

interface NativeSession {
  readonly inputMetadata: readonly ValueMetadata[];
  readonly outputMetadata: readonly ValueMetadata[];
  loadModel(path: string, options: InferenceSession.SessionOptions): void;
  loadModel(
    bytes: ArrayBufferLike,
    offset: number,
    length: number,
    options: InferenceSession.SessionOptions,
  ): void;
  run(
    feeds: Record<string, Tensor>,
    outputs: Record<string, null>,
    options: InferenceSession.RunOptions,
  ): Record<string, Tensor>;
  dispose(): void;
}

export type OnnxEngine = Pick<Binding, 'InferenceSession'>;

/** Loads the native library. Nothing here waits: each call enters the library and comes back when it is done. */
export function openEngine(directory: string): OnnxEngine {
  try {
    const binding = createRequire(import.meta.url)(join(directory, BINDING)) as Binding;
    binding.initOrtOnce(LOG_WARNINGS, Tensor, isMainThread);
    return binding;
  } catch (error) {
    throw new AppError(
      'configuration_error',
      `The engine of the embedding model cannot be loaded: ${messageOf(error)}.`,
      {
        hint: `Remove ${directory} to have it fetched anew; on a system that it was not made for, use a hosted embedder.`,
        cause: error,
      },
    );
  }
}

/** What a model makes of one input. */
export interface ModelOutput {
  /** Its numbers: of every token one after the other, or of the input as a whole. */
  values: Float32Array;
  byToken: boolean;
}

export interface ModelSession {
  /** `types` tells the tokens of a second text from those of the first; all are of the first unless given. */
  run(tokens: readonly number[], types?: readonly number[]): ModelOutput;
  close(): void;
}

/** The weights as bytes that were checked, or as a file, which may lie in several. */
export type Weights = { bytes: Buffer } | { path: string };

/** One text a run: with weights of one byte, what a text comes to would depend on the texts beside it. */
export function createSession(
  { InferenceSession }: OnnxEngine,
  weights: Weights,
  { threads, preferWhole = false }: { threads: number; preferWhole?: boolean },
): ModelSession {
  const session = new InferenceSession();
  const options = {
    intraOpNumThreads: threads,
    // Threads that spin while they wait take the processor from whatever else runs.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  };
  if ('bytes' in weights) {
    const { buffer, byteOffset, byteLength } = weights.bytes;
    session.loadModel(buffer, byteOffset, byteLength, options);
  } else {
    loadForeign(session, weights.path, options);
  }
  const inputs = session.inputMetadata;
  const output = outputOf(session.outputMetadata, preferWhole);
  const byToken = output.shape?.length === 3;

  return {
    run(tokens, types = []) {
      const values: Record<string, (index: number) => number> = {
        input_ids: (index) => tokens[index] ?? 0,
        attention_mask: () => 1,
        token_type_ids: (index) => types[index] ?? 0,
        position_ids: (index) => index,
      };
      const feeds = Object.fromEntries(
        inputs.map(({ name, type }) => [name, row(tokens.length, type, values[name] ?? (() => 0))]),
      );
      // It was looked up that this output is of floats.
      const data = session.run(feeds, { [output.name]: null }, {})[output.name]?.data as Float32Array;
      return { values: data, byToken };
    },
    close: () => session.dispose(),
  };
}

function row(length: number, type: number | undefined, valueAt: (index: number) => number): Tensor {
  return type === INT32
    ? new Tensor(
        'int32',
        Int32Array.from({ length }, (_, index) => valueAt(index)),
        [1, length],
      )
    : new Tensor(
        'int64',
        BigInt64Array.from({ length }, (_, index) => BigInt(valueAt(index))),
        [1, length],
      );
}

const KNOWN_INPUTS = new Set(['input_ids', 'attention_mask', 'token_type_ids', 'position_ids']);

/** Weights that someone brought: they may be anything. */
function loadForeign(session: NativeSession, path: string, options: InferenceSession.SessionOptions): void {
  try {
    session.loadModel(path, options);
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    throw new AppError('configuration_error', `${path} cannot be loaded as a model: ${reason}`, {
      hint: 'It must be an encoder exported to ONNX, whole, in a form that ONNX Runtime 1.30 reads.',
      cause: error,
    });
  }
  const names = session.inputMetadata.map(({ name }) => name);
  const strange = names.find((name) => !KNOWN_INPUTS.has(name));
  if (strange === undefined && names.includes('input_ids')) return;
  throw new AppError(
    'configuration_error',
    strange === undefined
      ? `The model ${path} takes no input_ids: it is not one that reads text.`
      : `The model ${path} wants an input that citeloop does not have for it: ${strange}.`,
    { hint: 'It must be an encoder of text; models that write text or see pictures are not.' },
  );
}

/** The states of the tokens where the model gives them, or what it makes of the whole where that is preferred. */
function outputOf(outputs: readonly ValueMetadata[], preferWhole: boolean): ValueMetadata {
  const floats = outputs.filter(({ type }) => type === FLOAT);
  const whole = floats.find(({ name }) => name === 'sentence_embedding');
  const found =
    (preferWhole ? whole : undefined) ??
    floats.find(({ name }) => /^(last_hidden_state|token_embeddings|logits)$/.test(name)) ??
    whole ??
    floats.find(({ shape }) => shape?.length === 3 || shape?.length === 2);
  if (found !== undefined) return found;
  const given = outputs.map(({ name }) => name).join(', ') || 'nothing';
  throw new AppError(
    'configuration_error',
    `The model gives no vectors of 32-bit numbers (it gives ${given}).`,
    {
      hint: 'Export it with outputs in float32; its weights may be smaller.',
    },
  );
}
