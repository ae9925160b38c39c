import { afterEach, expect, test } from 'vitest';
import { endUnusedThread, startModel, startThreadAhead } from '../../../src/adapters/onnx/start-model.ts';
import { modelLocation } from '../../support/model-weights.ts';

afterEach(endUnusedThread);

const source = () => ({ directory: modelLocation().directory, dimensions: 384, spinning: false });

test('a thread that was started ahead takes the model, and is asked to end with it', async () => {
  startThreadAhead();
  startThreadAhead();
  const model = await startModel(source());
  const [vector] = await model.embed([[101, 7592, 102]]);
  expect(vector).toHaveLength(384);
  await model.stop();
  await endUnusedThread();
});

test('a thread that nobody took ends when asked to, at once or later', async () => {
  startThreadAhead();
  await endUnusedThread();
  await endUnusedThread();
  startThreadAhead();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await endUnusedThread();
});

test('a model that cannot be loaded is told, and its thread ends', async () => {
  startThreadAhead();
  await expect(startModel({ ...source(), directory: '/nonexistent' })).rejects.toThrow('vanished');
  const model = await startModel(source());
  await model.stop();
});
