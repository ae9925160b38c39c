import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { findEngine } from '../../../src/adapters/onnx/engine.ts';
import { endUnusedThread, startModel, startThreadAhead } from '../../../src/adapters/onnx/start-model.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

afterEach(endUnusedThread);

const engine = findEngine(modelLocation()) as string;
const { directory } = modelLocation();
const source = { engine, weights: { directory }, pooling: 'mean' as const, threads: 1, member: 0 };

test('a thread that was started ahead takes the model, and is asked to end with it', async () => {
  startThreadAhead(engine);
  startThreadAhead(engine);
  const model = await startModel(source);
  expect(await model.embed([101, 7592, 102])).toHaveLength(384);
  await model.stop();
  await endUnusedThread();
});

test('a thread that nobody took ends when asked to, at once or later', async () => {
  startThreadAhead(engine);
  await endUnusedThread();
  await endUnusedThread();
  startThreadAhead(engine);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await endUnusedThread();
});

test('a model that cannot be loaded is told, and its thread ends', async () => {
  startThreadAhead(engine);
  await expect(startModel({ ...source, weights: { directory: '/nonexistent' } })).rejects.toThrow('vanished');
  const model = await startModel(source);
  await model.stop();
});

test('who asks for the same model shares it, and it ends with the last of them', async () => {
  const [first, second] = await Promise.all([startModel(source), startModel(source)]);
  // A thread that was started ahead is left over where the model is there already.
  startThreadAhead(engine);
  const third = await startModel(source);
  await endUnusedThread();
  await first.stop();
  await first.stop();
  await second.stop();
  expect(await third.embed([101, 7592, 102])).toHaveLength(384);
  await third.stop();
  const again = await startModel(source);
  expect(await again.embed([101, 7592, 102])).toHaveLength(384);
  await again.stop();
});

test('a process that ends in the middle of a run ends as it was told to, and nothing of it was reported to anyone', async () => {
  const home = await temporaryDirectory();
  // The first text has been answered, so the thread is at work on one of the others.
  const program = `
    import { startModel } from ${JSON.stringify(join(import.meta.dirname, '../../../src/adapters/onnx/start-model.ts'))};
    const model = await startModel(${JSON.stringify(source)});
    const input = new Array(256).fill(7592);
    const answers = Array.from({ length: 20 }, () => model.embed(input));
    await answers[0];
    process.exit(130);
  `;
  const env = { PATH: process.env.PATH, HOME: home };
  const fault = await endWithParent(
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env }),
  ).catch((error: unknown) => error);
  expect(fault).toMatchObject({ code: 130, signal: null, stderr: '' });
  expect(existsSync(join(home, '.cache', 'Microsoft'))).toBe(false);
});
