// The baseline of a semantic search: loading the engine and the weights.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Tensor } from 'onnxruntime-common';

const [engine, weights] = process.argv.slice(2);
process.env.ORT_DISABLE_TELEMETRY = '1';
const binding = createRequire(import.meta.url)(join(engine, 'onnxruntime_binding.node'));
binding.initOrtOnce(2, Tensor, true);
new binding.InferenceSession().loadModel(weights, {});
