import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addedEncoderSchema } from '../../../src/cli/commands/encoders.ts';
import { listenForTest } from '../../support/listen-for-test.ts';
import { createModelDirectory } from '../../support/model-directory.ts';
import { builtInModelFiles, HUB_COMMIT, startModelHub } from '../../support/model-hub.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { countWord } from '../../support/tiny-cross-encoder.ts';
import { encodeTinyModel } from '../../support/tiny-onnx.ts';

const WEIGHTS = 'onnx/model_quantized.onnx';

/** A program whose hub is a local server. */
async function startProgram(options: Parameters<typeof startModelHub>[0], env: Record<string, string> = {}) {
  const hub = await startModelHub(options);
  const home = await createTemporaryDirectory();
  const run = (...args: string[]) => runInProcess(args, { home, env: { HF_ENDPOINT: hub.origin, ...env } });
  return { hub, home, run };
}

function crossEncoderFiles(): Record<string, Uint8Array> {
  const { [WEIGHTS]: _, ...others } = builtInModelFiles();
  return { ...others, 'onnx/model.onnx': encodeTinyModel(countWord('zebra')) };
}

test('downloads an encoder and uses it by name for ingest and search', async () => {
  const files = {
    ...builtInModelFiles(),
    'onnx/model.onnx': Buffer.from('larger'),
    'README.md': Buffer.from('#'),
  };
  const { hub, home, run } = await startProgram({ files });
  const added = await run('encoders', 'add', 'org/tiny', '--json');
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect(addedEncoderSchema.parse(JSON.parse(added.stdout))).toMatchObject({
    name: 'tiny',
    kind: 'encoder',
    dimensions: 384,
    source: 'org/tiny',
    revision: HUB_COMMIT,
    license: 'apache-2.0',
    weights: WEIGHTS,
  });
  const paths = hub.requests.map(({ path }) => path);
  expect(paths).toContain(`/org/tiny/resolve/${HUB_COMMIT}/${WEIGHTS}`);
  expect(paths.join()).not.toMatch(/README|model\.onnx/);
  expect(readdirSync(join(home, 'encoders'))).toEqual(['tiny']);

  await writeFile(join(home, 'zebras.md'), '# Zebras\n\nZebras are striped relatives of the horse.\n');
  await writeFile(join(home, 'bread.md'), '# Bread\n\nBread is baked from flour and water.\n');
  const embedder = ['--embedder', 'onnx:tiny', '--collection', 'own'];
  expect(await run('ingest', 'zebras.md', 'bread.md', ...embedder)).toMatchObject({ code: 0 });
  const search = await run('search', 'striped animals', ...embedder, '--json');
  expect(JSON.parse(search.stdout).chunks[0]).toMatchObject({ title: 'Zebras' });

  expect(JSON.parse((await run('encoders', '--json')).stdout)).toMatchObject({
    encoders: [{ name: 'tiny' }],
  });
  expect((await run('--complete', 'encoders', 'remove', '')).stdout).toContain('tiny');
  expect(await run('encoders', 'add', 'org/tiny')).toMatchObject({ code: 2 });
  expect(await run('encoders', 'remove', 'tinny')).toMatchObject({ code: 2 });
  expect(JSON.parse((await run('encoders', 'remove', 'tiny', '--json')).stdout)).toEqual({ deleted: 'tiny' });
  expect(readdirSync(join(home, 'encoders'))).toEqual([]);
});

test('continues after a cut connection, in the same run and in the next one', async () => {
  const files = builtInModelFiles();
  const weights = files[WEIGHTS] ?? Buffer.alloc(0);
  let cuts = 0;
  const { hub, run } = await startProgram({
    files,
    intercept(path, response, request) {
      if (path !== WEIGHTS || cuts > 0) return false;
      cuts += 1;
      response.writeHead(200, { 'content-length': weights.length });
      response.write(weights.subarray(0, 1_000_000), () => setTimeout(() => request.socket.destroy(), 50));
      return true;
    },
  });
  expect(await run('encoders', 'add', 'org/tiny')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('closed the connection'),
  });
  const ranges = hub.requests.filter(({ path }) => path.endsWith(WEIGHTS)).map(({ range }) => range);
  expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
});

test('resumes from a file that an earlier run left', async () => {
  const files = builtInModelFiles();
  const { hub, home, run } = await startProgram({ files });
  const unfinished = join(home, 'encoders', `.tiny-${HUB_COMMIT}-model_quantized.onnx`, 'tiny');
  await mkdir(join(unfinished, 'onnx'), { recursive: true });
  await writeFile(
    join(unfinished, `${WEIGHTS}.part`),
    (files[WEIGHTS] ?? Buffer.alloc(0)).subarray(0, 12_345),
  );
  expect(await run('encoders', '--json')).toMatchObject({ stdout: '{"encoders":[]}\n' });
  expect(await run('encoders', 'add', 'org/tiny')).toMatchObject({ code: 0 });
  expect(hub.requests.at(-1)).toMatchObject({ range: 'bytes=12345-' });
});

test('never uses a file with another hash', async () => {
  const files = builtInModelFiles();
  const { home, run } = await startProgram({
    files,
    intercept(path, response) {
      if (path !== 'config.json') return false;
      response.end(Buffer.from(files[path] ?? '').fill(32, 1, 9));
      return true;
    },
  });
  expect(await run('encoders', 'add', 'org/tiny')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('hash of config.json'),
  });
  expect(existsSync(join(home, 'encoders', 'tiny'))).toBe(false);
  expect(await run('doctor', '--embedder', 'onnx:tiny')).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('There is no model directory'),
  });
});

test('explains a repository that cannot be used', async () => {
  const { run } = await startProgram({
    files: { 'config.json': Buffer.from('{}'), '../evil.onnx': Buffer.from('x') },
  });
  const failed = async (...args: string[]) => {
    const { code, stdout } = await run('encoders', 'add', ...args, '--json');
    return { code, ...JSON.parse(stdout).error };
  };
  // Paths that leave the directory are ignored.
  expect(await failed('org/tiny')).toMatchObject({
    code: 2,
    message: expect.stringContaining('no ONNX file'),
  });
  expect(await failed('org/other')).toMatchObject({ code: 2, message: expect.stringContaining('org/other') });
  expect(await failed('org/tiny@v9')).toMatchObject({ code: 2, message: expect.stringContaining('v9') });
  expect(await failed('./nowhere/at/all')).toMatchObject({ code: 2 });
  expect(await failed('org/tiny', '--name', '../x')).toMatchObject({ code: 2 });
});

test('lists the weights to choose from', async () => {
  const { run } = await startProgram({
    files: { ...crossEncoderFiles(), 'onnx/model_O4.onnx': Buffer.from('x') },
  });
  expect(await run('encoders', 'add', 'org/tiny', '--file', 'onnx/none.onnx')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--file: onnx/model.onnx, onnx/model_O4.onnx'),
  });
});

test('sends the token of the environment to the hub only', async () => {
  const files = crossEncoderFiles();
  const storageRequests: (string | undefined)[] = [];
  const storage = await listenForTest(
    createServer((request, response) => {
      storageRequests.push(request.headers.authorization);
      response.end(files['onnx/model.onnx']);
    }),
  );
  const { hub, home, run } = await startProgram({
    files,
    gatedBy: 'hf_secret',
    intercept(path, response) {
      if (path !== 'onnx/model.onnx') return false;
      response.writeHead(302, { location: `${storage.origin}/blob` }).end();
      return true;
    },
  });
  // A project file can neither set the token nor the address.
  await writeFile(join(home, '.env'), 'HF_TOKEN=hf_secret\nHF_ENDPOINT=http://127.0.0.1:9\n');
  const refused = await run('encoders', 'add', 'org/tiny', '--json');
  expect(refused.code).toBe(3);
  expect(JSON.parse(refused.stdout).error).toMatchObject({
    errorType: 'auth_error',
    userMessage: expect.stringContaining('HF_TOKEN'),
  });
  expect(hub.requests.every(({ authorization }) => authorization === undefined)).toBe(true);

  const env = { HF_ENDPOINT: hub.origin, HF_TOKEN: 'hf_secret' };
  expect(await runInProcess(['encoders', 'add', 'org/tiny'], { home, env })).toMatchObject({ code: 0 });
  expect(hub.requests.at(-1)).toMatchObject({ authorization: 'Bearer hf_secret' });
  expect(storageRequests).toEqual([undefined]);
});

test('follows no redirect away from https unless the hub is on this machine', async () => {
  const { hub, run } = await startProgram({
    files: builtInModelFiles(),
    intercept: (_, response) => Boolean(response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()),
  });
  const { port } = new URL(hub.origin);
  // Connects to this machine, too, but is no loopback address.
  const env = { HF_ENDPOINT: `http://0.0.0.0:${port}` };
  const home = await createTemporaryDirectory();
  expect(await runInProcess(['encoders', 'add', 'org/tiny'], { home, env })).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('without https'),
  });
  expect((await run('encoders')).stdout).toContain('No encoders yet');
});

test('recognizes cross-encoders and uses them by name', async () => {
  const labels = Buffer.from(JSON.stringify({ id2label: { 0: 'entailment' } }));
  const { run } = await startProgram({ files: { ...crossEncoderFiles(), 'config.json': labels } });
  const directory = await createModelDirectory({ model: countWord('zebra') });
  expect((await run('encoders', 'add', 'org/tiny', '--name', 'nli')).stdout).toContain('--check onnx:nli');
  expect((await run('encoders', 'add', directory, '--name', 'zebras')).stdout).toContain(
    '--rerank onnx:zebras',
  );
  const { encoders } = JSON.parse((await run('encoders', '--json')).stdout);
  expect(encoders).toMatchObject([
    { kind: 'entailment' },
    { kind: 'reranker', source: directory, revision: null },
  ]);
  const doctor = await run('doctor', '--rerank', 'onnx:zebras');
  expect(doctor.stdout).toMatch(/rerank.*onnx:/);
  expect((await run('encoders', 'remove', 'zebras')).code).toBe(0);
  expect(readFileSync(join(directory, 'onnx/model.onnx')).length).toBeGreaterThan(0);
});

test('says what to do without a network', async () => {
  const home = await createTemporaryDirectory();
  const env = { HF_ENDPOINT: 'http://127.0.0.1:9' };
  const result = await runInProcess(['encoders', 'add', 'org/tiny'], { home, env });
  expect(result).toMatchObject({ code: 5, stderr: expect.stringContaining('HF_ENDPOINT') });
});
