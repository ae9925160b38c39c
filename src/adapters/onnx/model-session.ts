import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { type InferenceSession, Tensor, type TensorConstructor } from 'onnxruntime-common';
import { AppError, messageOf } from '../../faults/app-error.ts';
import { assertGenuineEngine, BINDING_FILE, type EngineLocation } from './engine.ts';

const LOG_WARNINGS = 2;
const FLOAT = 1;
const INT32 = 6;

/** The native addon. `onnxruntime-node` wraps the same synchronous calls in promises. */
interface NativeBinding {
  initOrtOnce(logLevel: number, tensor: TensorConstructor, isMainThread: boolean): void;
  InferenceSession: new () => NativeSession;
}

interface ValueMetadata {
  name: string;
  /** The ONNX tensor type; absent if it is no tensor. */
  type?: number;
  /** A dimension of any size is negative. */
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

export type OnnxEngine = Pick<NativeBinding, 'InferenceSession'>;

/** Loads the native library after checking its hashes. All its calls are synchronous. */
export function loadOnnxEngine(location: EngineLocation): OnnxEngine {
  const { directory } = location;
  try {
    assertGenuineEngine(location);
    const binding = createRequire(import.meta.url)(join(directory, BINDING_FILE)) as NativeBinding;
    binding.initOrtOnce(LOG_WARNINGS, Tensor, isMainThread);
    return binding;
  } catch (error) {
    throw new AppError('configuration_error', `ONNX Runtime cannot be loaded: ${messageOf(error)}.`, {
      hint: `Remove ${directory} to download it again, or use a hosted embedder if this system is not supported.`,
      cause: error,
    });
  }
}

export interface ModelOutput {
  /** The concatenated vectors of all tokens, or one vector for the whole input. */
  values: Float32Array;
  byToken: boolean;
}

export interface ModelSession {
  /** `types` is 1 for the tokens of a second text; default 0 for all. */
  run(tokens: readonly number[], types?: readonly number[]): ModelOutput;
  close(): void;
}

/** The verified bytes of the built-in model, or the path of another, which may refer to further files. */
export type ModelWeights = { bytes: Buffer } | { path: string };

/** A session runs one text at a time: in a batch, int8 weights make vectors depend on the other texts (decisions/0014). */
export function createModelSession(
  { InferenceSession }: OnnxEngine,
  weights: ModelWeights,
  { threads, preferWhole = false }: { threads: number; preferWhole?: boolean },
): ModelSession {
  const session = new InferenceSession();
  const options = {
    intraOpNumThreads: threads,
    // Spinning threads would take processor time from other work.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  };
  if ('bytes' in weights) {
    const { buffer, byteOffset, byteLength } = weights.bytes;
    session.loadModel(buffer, byteOffset, byteLength, options);
  } else {
    loadCustomModel(session, weights.path, options);
  }
  const inputs = session.inputMetadata;
  const output = chooseOutput(session.outputMetadata, preferWhole);
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
        inputs.map(({ name, type }) => [name, toTensor(tokens.length, type, values[name] ?? (() => 0))]),
      );
      // `chooseOutput` selects only float outputs.
      const data = session.run(feeds, { [output.name]: null }, {})[output.name]?.data as Float32Array;
      return { values: data, byToken };
    },
    close: () => session.dispose(),
  };
}

function toTensor(length: number, type: number | undefined, valueAt: (index: number) => number): Tensor {
  const values = Array.from({ length }, (_, index) => valueAt(index));
  return type === INT32
    ? new Tensor('int32', Int32Array.from(values), [1, length])
    : new Tensor('int64', BigInt64Array.from(values, BigInt), [1, length]);
}

const KNOWN_INPUTS = new Set(['input_ids', 'attention_mask', 'token_type_ids', 'position_ids']);

/** Throws `configuration_error` if the file is no text encoder. */
function loadCustomModel(
  session: NativeSession,
  path: string,
  options: InferenceSession.SessionOptions,
): void {
  try {
    session.loadModel(path, options);
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    throw new AppError('configuration_error', `${path} cannot be loaded as a model: ${reason}`, {
      hint: 'It must be a complete encoder, exported to ONNX for ONNX Runtime 1.30.',
      cause: error,
    });
  }
  const names = session.inputMetadata.map(({ name }) => name);
  const unknownInput = names.find((name) => !KNOWN_INPUTS.has(name));
  if (unknownInput === undefined && names.includes('input_ids')) return;
  throw new AppError(
    'configuration_error',
    unknownInput === undefined
      ? `The model ${path} has no input input_ids, so it does not read text.`
      : `The model ${path} requires an unsupported input: ${unknownInput}.`,
    { hint: 'Use a text encoder. Models that generate text or read images are not supported.' },
  );
}

/** The output with the vectors of tokens, or the one for the whole text if that is preferred. */
function chooseOutput(outputs: readonly ValueMetadata[], preferWhole: boolean): ValueMetadata {
  const floats = outputs.filter(({ type }) => type === FLOAT);
  const whole = floats.find(({ name }) => name === 'sentence_embedding');
  const found =
    (preferWhole ? whole : undefined) ??
    floats.find(({ name }) => /^(last_hidden_state|token_embeddings|logits)$/.test(name)) ??
    whole ??
    floats.find(({ shape }) => shape?.length === 3 || shape?.length === 2);
  if (found !== undefined) return found;
  const names = outputs.map(({ name }) => name).join(', ') || 'nothing';
  const message = `The model has no float32 vectors among its outputs (${names}).`;
  const hint = 'Export it with float32 outputs; its weights may be smaller.';
  throw new AppError('configuration_error', message, { hint });
}
