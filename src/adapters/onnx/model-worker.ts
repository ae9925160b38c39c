import { parentPort, workerData } from 'node:worker_threads';
import { toFaultMessage } from '../../faults/fault-message.ts';
import {
  createSession,
  type Engine,
  type ModelOutput,
  type ModelSession,
  openEngine,
  type Weights,
} from './inference.ts';
import { natively } from './native-gate.ts';
import type { ModelRequest, ModelSource, Pooling, ThreadData } from './start-model.ts';
import { readModelFile } from './weights.ts';

/** A thread that holds the model: it is loaded beside everything else, and running it keeps nobody waiting. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a worker');
const { gate, engine: likelyEngine } = workerData as ThreadData;

let engine: Engine | undefined;
let session: ModelSession | undefined;
let pooling: Pooling = 'mean';

port.on('message', (request: ModelRequest) => {
  if ('stop' in request) return stop();
  if ('load' in request) return void load(request.load);
  const { id, input, types, wants } = request;
  try {
    const output = run(input, types);
    const answer = wants === 'output' ? output.values : vectorOf(output, input.length);
    // The states of tokens are large: they are handed over, not copied.
    port.postMessage({ id, answer }, [answer.buffer as ArrayBuffer]);
  } catch (error) {
    port.postMessage({ id, fault: toFaultMessage(error) });
  }
});

// Before it is known where the weights lie. A fault of it shows again when they are loaded.
if (likelyEngine !== null) {
  try {
    open(likelyEngine);
  } catch {}
}

function open(directory: string): Engine {
  engine ??= natively(gate, () => openEngine(directory));
  return engine;
}

async function load(source: ModelSource): Promise<void> {
  try {
    const weights = await weightsOf(source);
    const opened = open(source.engine);
    session = natively(gate, () =>
      createSession(opened, weights, { threads: source.threads, preferWhole: source.pooling === null }),
    );
    pooling = source.pooling ?? 'mean';
    port?.postMessage({ ready: true });
  } catch (error) {
    port?.postMessage({ fault: toFaultMessage(error) });
  }
}

async function weightsOf({ weights }: ModelSource): Promise<Weights> {
  if ('path' in weights) return weights;
  const bytes = await readModelFile(weights.directory, 'onnx/model_quantized.onnx');
  if (bytes === null) throw new Error('the weights have vanished');
  return { bytes };
}

function run(input: readonly number[], types: readonly number[] | undefined): ModelOutput {
  const loaded = session;
  if (loaded === undefined) throw new Error('the model is not loaded');
  return natively(gate, () => loaded.run(input, types));
}

function stop(): void {
  natively(gate, () => session?.close());
  port?.close();
}

/** One vector of unit length for a text of so many tokens. */
function vectorOf({ values, byToken }: ModelOutput, tokens: number): Float32Array {
  const pooled = byToken ? pooledOf(values, values.length / tokens) : values;
  const length = Math.hypot(...pooled) || 1;
  return pooled.map((value) => value / length);
}

function pooledOf(states: Float32Array, width: number): Float32Array {
  if (pooling === 'cls') return states.slice(0, width);
  if (pooling === 'last') return states.slice(-width);
  const pooled = pooling === 'max' ? states.slice(0, width) : new Float32Array(width);
  for (let i = 0; i < states.length; i += width) {
    for (let j = 0; j < width; j += 1) {
      const [before, value] = [pooled[j] ?? 0, states[i + j] ?? 0];
      // Of a mean the length does not matter, so the sum will do.
      pooled[j] = pooling === 'max' ? Math.max(before, value) : before + value;
    }
  }
  return pooled;
}
