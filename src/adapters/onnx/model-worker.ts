import { parentPort, workerData } from 'node:worker_threads';
import { connectToParent } from '../../async/worker-channel.ts';
import { normalizeVector } from '../../domain/unit-vectors.ts';
import type { TextEmbedding } from '../../ports/embedder.ts';
import type { EngineLocation } from './engine.ts';
import {
  createModelSession,
  loadOnnxEngine,
  type ModelOutput,
  type ModelSession,
  type ModelWeights,
  type OnnxEngine,
} from './model-session.ts';
import type { ModelSource, ModelWorkerData, ModelWorkerRequest, Pooling } from './model-threads.ts';
import { runNative } from './native-gate.ts';
import { createWordProjection, type TokenRange } from './project-words.ts';
import { readModelFile } from './weights.ts';

const { gate, engine: knownEngine } = workerData as ModelWorkerData;

let engine: OnnxEngine | undefined;
let session: ModelSession | undefined;
let pooling: Pooling = 'mean';
let project: ReturnType<typeof createWordProjection> | undefined;

connectToParent<ModelWorkerRequest>({
  handle(request) {
    if ('stop' in request) return stop();
    if ('load' in request) return load(request.load);
    const { input } = request;
    if ('words' in request) return embedWords(input, request.words);
    const output = run(input, request.types);
    return request.wants === 'output' ? output.values : toUnitVector(output, input.length);
  },
  transfer: (response?: Float32Array | TextEmbedding) => {
    if (response === undefined) return [];
    const arrays = 'words' in response ? [response.vector, response.words] : [response];
    return arrays.map(({ buffer }) => buffer as ArrayBuffer);
  },
});

if (knownEngine !== null) {
  try {
    open(knownEngine);
  } catch {
    // Reported when a model is loaded.
  }
}

function open(location: EngineLocation): OnnxEngine {
  engine ??= runNative(gate, () => loadOnnxEngine(location));
  return engine;
}

async function load(source: ModelSource): Promise<void> {
  const weights = await readWeights(source);
  const opened = open(source.engine);
  session = runNative(gate, () =>
    createModelSession(opened, weights, { threads: source.threads, preferWhole: source.pooling === null }),
  );
  pooling = source.pooling ?? 'mean';
  // The session has its own copy. Without this, 23 MB stay until a garbage collection, which an idle thread never has.
  if ('bytes' in weights) (weights.bytes.buffer as ArrayBuffer).transfer(0);
}

async function readWeights({ weights }: ModelSource): Promise<ModelWeights> {
  if ('path' in weights) return weights;
  const bytes = await readModelFile(weights.directory, 'onnx/model_quantized.onnx', weights);
  if (bytes === null) throw new Error(`${weights.directory} no longer holds the weights`);
  return { bytes };
}

function run(input: readonly number[], types: readonly number[] | undefined): ModelOutput {
  const loaded = session;
  if (loaded === undefined) throw new Error('the model is not loaded');
  return runNative(gate, () => loaded.run(input, types));
}

function embedWords(input: readonly number[], words: readonly TokenRange[]): TextEmbedding {
  const output = run(input, undefined);
  project ??= createWordProjection();
  return { vector: toUnitVector(output, input.length), words: project(output.values, words) };
}

function stop(): void {
  runNative(gate, () => session?.close());
  parentPort?.close();
}

function toUnitVector({ values, byToken }: ModelOutput, tokenCount: number): Float32Array {
  return normalizeVector(byToken ? poolTokens(values, values.length / tokenCount) : values);
}

function poolTokens(states: Float32Array, width: number): Float32Array {
  if (pooling === 'cls') return states.slice(0, width);
  if (pooling === 'last') return states.slice(-width);
  const pooled = pooling === 'max' ? states.slice(0, width) : new Float32Array(width);
  for (let i = 0; i < states.length; i += width) {
    for (let j = 0; j < width; j += 1) {
      const [before, value] = [pooled[j] ?? 0, states[i + j] ?? 0];
      // The sum has the direction of the mean.
      pooled[j] = pooling === 'max' ? Math.max(before, value) : before + value;
    }
  }
  return pooled;
}
