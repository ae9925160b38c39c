import { parentPort, workerData } from 'node:worker_threads';
import { toFaultMessage } from '../../faults/fault-message.ts';
import { createSession, type Engine, type ModelSession, openEngine } from './inference.ts';
import { natively } from './native-gate.ts';
import type { ModelRequest, ModelSource, ThreadData } from './start-model.ts';
import { readModelFile } from './weights.ts';

/** A thread that holds the model: it is loaded beside everything else, and running it keeps nobody waiting. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a worker');
const { gate, engine: likelyEngine } = workerData as ThreadData;

let engine: Engine | undefined;
let session: ModelSession | undefined;
let dimensions = 0;

port.on('message', (request: ModelRequest) => {
  if ('stop' in request) return stop();
  if ('load' in request) return void load(request.load);
  const { id, input, wants } = request;
  try {
    const states = run(input);
    const answer = wants === 'states' ? states : meanOfUnitLength(states, dimensions);
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
    const weights = await readModelFile(source.directory, 'onnx/model_quantized.onnx');
    if (weights === null) throw new Error('the weights have vanished');
    const opened = open(source.engine);
    session = natively(gate, () => createSession(opened, weights, source.threads));
    dimensions = source.dimensions;
    port?.postMessage({ ready: true });
  } catch (error) {
    port?.postMessage({ fault: toFaultMessage(error) });
  }
}

function run(input: readonly number[]): Float32Array {
  const loaded = session;
  if (loaded === undefined) throw new Error('the model is not loaded');
  return natively(gate, () => loaded.run(input));
}

function stop(): void {
  natively(gate, () => session?.close());
  port?.close();
}

/** The mean over the tokens. */
function meanOfUnitLength(states: Float32Array, width: number): Float32Array {
  const mean = new Float32Array(width);
  for (let i = 0; i < states.length; i += width) {
    for (let j = 0; j < width; j += 1) mean[j] = (mean[j] ?? 0) + (states[i + j] ?? 0);
  }
  const length = Math.hypot(...mean) || 1;
  return mean.map((value) => value / length);
}
