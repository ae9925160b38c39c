import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { type EngineLocation, findOnnxEngine } from '../../../src/adapters/onnx/engine.ts';
import { createModelThreads } from '../../../src/adapters/onnx/model-threads.ts';
import { endWithParent } from '../../support/end-with-parent.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const threads = createModelThreads();
afterEach(threads.stopIfIdle);

const engine = findOnnxEngine(modelLocation()) as EngineLocation;
const { directory } = modelLocation();
const source = { engine, weights: { directory }, pooling: 'mean' as const, threads: 1, member: 0 };

test('a worker started ahead loads the model and ends with it', async () => {
  threads.prestart(engine);
  threads.prestart(engine);
  const model = await threads.load(source);
  expect(await model.embed([101, 7592, 102])).toHaveLength(384);
  await model.stop();
  await threads.stopIfIdle();
});

test('an unused worker ends when asked to, at once or later', async () => {
  threads.prestart(engine);
  await threads.stopIfIdle();
  await threads.stopIfIdle();
  threads.prestart(engine);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await threads.stopIfIdle();
});

test('a model that cannot be loaded is reported and its worker ends', async () => {
  threads.prestart(engine);
  await expect(threads.load({ ...source, weights: { directory: '/nonexistent' } })).rejects.toThrow(
    'no longer holds the weights',
  );
  const model = await threads.load(source);
  await model.stop();
});

test('callers share a model, and it ends with the last of them', async () => {
  const [first, second] = await Promise.all([threads.load(source), threads.load(source)]);
  // A worker started ahead stays unused if the model is loaded already.
  threads.prestart(engine);
  const third = await threads.load(source);
  await threads.stopIfIdle();
  await first.stop();
  await first.stop();
  await second.stop();
  expect(await third.embed([101, 7592, 102])).toHaveLength(384);
  await third.stop();
  const again = await threads.load(source);
  expect(await again.embed([101, 7592, 102])).toHaveLength(384);
  await again.stop();
});

test('a process that exits during inference keeps its exit code and sends no telemetry', async () => {
  const home = await createTemporaryDirectory();
  // The first text is done, so the worker is busy with another.
  const program = `
    import { createModelThreads } from ${JSON.stringify(join(import.meta.dirname, '../../../src/adapters/onnx/model-threads.ts'))};
    const model = await createModelThreads().load(${JSON.stringify(source)});
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
