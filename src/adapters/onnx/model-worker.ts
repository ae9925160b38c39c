import { availableParallelism } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { AppError, messageOf } from '../../domain/app-error.ts';
import { createPooling } from './pooling.ts';
import type { ModelFault, ModelRequest, ModelWorkerData } from './start-model.ts';
import { readModelFile } from './weights.ts';

/** A thread that holds the model: it is loaded beside everything else, and running it keeps nobody waiting. */
const { directory, dimensions } = workerData as ModelWorkerData;
const port = parentPort;
if (port === null) throw new Error('this file is run as a worker');

try {
  const [weights, { default: runtime }] = await Promise.all([
    readModelFile(directory, 'onnx/model_quantized.onnx'),
    import('onnxruntime-node'),
  ]);
  if (weights === null) throw new Error('the weights have vanished');
  const session = await runtime.InferenceSession.create(weights, {
    intraOpNumThreads: availableParallelism(),
    // Threads that wait for work by spinning would take the time of those that load the rest of the program.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  });
  const embed = createPooling(session, runtime.Tensor, dimensions);
  port.on('message', (request: ModelRequest) => {
    if ('stop' in request) return void session.release().finally(() => port.close());
    const { id, inputs } = request;
    embed(inputs).then(
      (vectors) => port.postMessage({ id, vectors }),
      (error: unknown) => port.postMessage({ id, fault: faultOf(error) }),
    );
  });
  port.postMessage({ ready: true });
} catch (error) {
  port.postMessage({ fault: faultOf(error) });
}

function faultOf(error: unknown): ModelFault {
  if (!(error instanceof AppError)) return { kind: null, message: messageOf(error), hint: undefined };
  return { kind: error.kind, message: error.message, hint: error.hint };
}
