// What no search by meaning can do without: the runtime, and a session from the weights.
import runtime from 'onnxruntime-node';

await runtime.InferenceSession.create(process.argv[2]);
