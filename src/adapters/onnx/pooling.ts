import type { InferenceSession, Tensor, TensorConstructor } from 'onnxruntime-node';

/** Runs the model on token ids and makes one vector of unit length of each: the mean over its tokens. */
export function createPooling(session: InferenceSession, TensorOf: TensorConstructor, dimensions: number) {
  return async (inputs: readonly number[][]): Promise<Float32Array[]> => {
    const width = Math.max(...inputs.map((ids) => ids.length));
    const shape = [inputs.length, width];
    const ids = new BigInt64Array(inputs.length * width);
    const mask = new BigInt64Array(inputs.length * width);
    inputs.forEach((tokens, row) => {
      tokens.forEach((token, column) => {
        ids[row * width + column] = BigInt(token);
        mask[row * width + column] = 1n;
      });
    });
    const { last_hidden_state: hidden } = await session.run({
      input_ids: new TensorOf('int64', ids, shape),
      attention_mask: new TensorOf('int64', mask, shape),
      token_type_ids: new TensorOf('int64', new BigInt64Array(inputs.length * width), shape),
    });
    const states = (hidden as Tensor).data as Float32Array;
    return inputs.map((tokens, row) => {
      const start = row * width * dimensions;
      return meanOfUnitLength(states.subarray(start, start + tokens.length * dimensions), dimensions);
    });
  };
}

function meanOfUnitLength(states: Float32Array, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions);
  for (let i = 0; i < states.length; i += dimensions) {
    for (let j = 0; j < dimensions; j += 1) mean[j] = (mean[j] ?? 0) + (states[i + j] ?? 0);
  }
  const length = Math.hypot(...mean) || 1;
  return mean.map((value) => value / length);
}
