import { availableParallelism } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { InferenceSession } from 'onnxruntime-node';
import { AppError, messageOf } from '../../domain/app-error.ts';
import { createPooling } from './pooling.ts';
import type { ModelFault, ModelRequest, ModelSource } from './start-model.ts';
import { readModelFile } from './weights.ts';

/** A thread that holds the model: it is loaded beside everything else, and running it keeps nobody waiting. */
const port = parentPort;
if (port === null) throw new Error('this file is run as a worker');

const starting = startRuntime();
// A fault of it is told to whoever asks for the model.
starting.catch(() => {});
let session: InferenceSession | undefined;
let embed: ReturnType<typeof createPooling> | undefined;

port.on('message', (request: ModelRequest) => {
  if ('stop' in request) return void stop();
  if ('load' in request) return void load(request.load);
  const { id, inputs } = request;
  embed?.(inputs).then(
    (vectors) => port.postMessage({ id, vectors }),
    (error: unknown) => port.postMessage({ id, fault: faultOf(error) }),
  );
});

async function startRuntime() {
  const { default: runtime } = await import('onnxruntime-node');
  // The first session sets up the runtime, even one of nothing: where the weights lie may not be known yet.
  await runtime.InferenceSession.create(new Uint8Array(1)).catch(() => undefined);
  return runtime;
}

async function load({ directory, dimensions, spinning }: ModelSource): Promise<void> {
  try {
    const [weights, runtime] = await Promise.all([
      readModelFile(directory, 'onnx/model_quantized.onnx'),
      starting,
    ]);
    if (weights === null) throw new Error('the weights have vanished');
    session = await runtime.InferenceSession.create(weights, {
      intraOpNumThreads: availableParallelism(),
      extra: { session: { intra_op: { allow_spinning: spinning ? '1' : '0' } } },
    });
    embed = createPooling(session, runtime.Tensor, dimensions);
    port?.postMessage({ ready: true });
  } catch (error) {
    port?.postMessage({ fault: faultOf(error) });
  }
}

/** A thread that ends within the native runtime takes the process with it. */
async function stop(): Promise<void> {
  await starting.catch(() => undefined);
  await session?.release();
  port?.close();
}

function faultOf(error: unknown): ModelFault {
  if (!(error instanceof AppError)) return { kind: null, message: messageOf(error), hint: undefined };
  return { kind: error.kind, message: error.message, hint: error.hint };
}
