import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ggufBytes } from '../../support/gguf-bytes.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { tinyGguf, writeTinyGguf } from '../../support/tiny-gguf.ts';

/** A data directory with these files among its models. */
async function homeWith(files: Record<string, Uint8Array>): Promise<string> {
  const home = await temporaryDirectory();
  mkdirSync(join(home, 'models'));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(home, 'models', name), bytes);
  return home;
}

const tiny = ggufBytes(tinyGguf());

test('without a model it is said where to put one', async () => {
  const home = await temporaryDirectory();
  const { code, stdout } = await runInProcess(['models'], { home });
  expect(code).toBe(0);
  expect(stdout).toContain(`There are no models in ${join(home, 'models')} yet.`);
  expect(stdout).toContain('docs/services.md');
  // It can be put there right away.
  writeTinyGguf(join(home, 'models', 'tiny.gguf'));
  expect((await runInProcess(['models'], { home })).stdout).toContain('tiny.gguf');
});

test('models are listed with what they are, what they need and that they were not measured', async () => {
  const home = await homeWith({ 'tiny.gguf': tiny });
  const { code, stdout } = await runInProcess(['models'], { home });
  expect(code).toBe(0);
  expect(stdout).toMatch(/tiny\.gguf\s+0 million\s+F32\s+0\.4 MB\s+32768\s+0\.1 GB\s+not measured/);
});

test('for programs there is everything that the header tells, and the engine', async () => {
  const home = await homeWith({ 'tiny.gguf': tiny, 'cut.gguf': tiny.subarray(0, 200_000) });
  const { code, stdout } = await runInProcess(['models', '--json'], { home });
  expect(code).toBe(0);
  const listed = JSON.parse(stdout);
  expect(listed).toMatchObject({
    directory: join(home, 'models'),
    engine: { usable: true, advice: null },
    models: [
      {
        file: 'tiny.gguf',
        path: join(home, 'models', 'tiny.gguf'),
        name: 'Tiny ChatML',
        architecture: 'llama',
        contextLength: 32_768,
        hasChatTemplate: true,
        bytes: tiny.length,
        fits: true,
        speed: null,
      },
    ],
    damaged: [{ file: 'cut.gguf', fault: expect.stringContaining('is cut'), fix: 'Fetch it again.' }],
  });
  // As much of the context as is used.
  expect(listed.models[0].memoryNeeded).toBeLessThan(tiny.length + 32_768 * 512 + 128 * 2 ** 20);
});

test('a file that cannot be used does not hide the others', async () => {
  const home = await homeWith({ 'broken.gguf': Buffer.from('nothing'), 'tiny.gguf': tiny });
  const { code, stdout, stderr } = await runInProcess(['models'], { home });
  expect(code).toBe(0);
  expect(stdout).toContain('tiny.gguf');
  expect(stderr).toContain('broken.gguf is not a GGUF file.');
});

test('the configured model is listed wherever it lies', async () => {
  const home = await temporaryDirectory();
  const path = writeTinyGguf(join(home, 'elsewhere.gguf'));
  const { stdout } = await runInProcess(['models', '--json'], { home, env: { OPENAI_MODEL: path } });
  expect(JSON.parse(stdout).models).toMatchObject([{ file: path, path }]);
  const wrong = await runInProcess(['models'], { home, env: { OPENAI_MODEL: 'elsewere.gguf' } });
  expect(wrong.stderr).toContain('There is no model file elsewere.gguf');
});

test('an engine that is missing is told with the command that installs it', async () => {
  const home = await homeWith({ 'tiny.gguf': tiny });
  const env = { CITELOOP_ENGINE_DIR: join(home, 'engine') };
  const { stdout } = await runInProcess(['models'], { home, env });
  expect(stdout).toContain('The engine that runs them is not installed.');
  expect(stdout).toContain(`npm i --prefix ${join(home, 'engine')}`);
  const doctor = JSON.parse((await runInProcess(['doctor', '--json'], { home, env })).stdout);
  const check = (name: string) => doctor.checks.find((each: { name: string }) => each.name === name);
  expect(check('local engine')).toMatchObject({ ok: false, fix: expect.stringContaining('npm i') });
  expect(check('local models')).toMatchObject({ ok: true, detail: expect.stringContaining('tiny.gguf in') });
});

test('doctor looks at the model that is named, without a service and a key', async () => {
  const home = await homeWith({ 'tiny.gguf': tiny });
  const modelCheck = async (model: string) => {
    const { stdout } = await runInProcess(['doctor', '--json', '--model', model], { home });
    return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'model');
  };
  const path = join(home, 'models', 'tiny.gguf');
  expect(await modelCheck('tiny')).toMatchObject({
    ok: true,
    detail: `${path}, with a window of 8192 tokens`,
  });
  expect(await modelCheck('tinny.gguf')).toMatchObject({ ok: false, fix: 'Did you mean tiny.gguf?' });
});

test('doctor does not say of a model that is named by its path that it lies among the others', async () => {
  const home = await homeWith({});
  const path = writeTinyGguf(join(home, 'elsewhere.gguf'));
  const { stdout } = await runInProcess(['doctor', '--json', '--model', path], { home });
  const local = JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'local models');
  expect(local).toMatchObject({ ok: true, detail: `none in ${join(home, 'models')}` });
});

test('of a name that is near that of a file, the file is told', async () => {
  const home = await homeWith({ 'tinyllama-1.1b-chat-v1.0.Q2_K.gguf': tiny, 'other.gguf': tiny });
  const meant = 'Did you mean tinyllama-1.1b-chat-v1.0.Q2_K.gguf?';
  for (const model of ['tinylama', 'tinylama-1b', 'tinylama.gguf']) {
    const { code, stderr } = await runInProcess(['ask', 'Why?', '--model', model], { home });
    expect(code).not.toBe(0);
    expect(stderr.replace(/\s+/g, ' ')).toContain(meant);
  }
  // A chat without documents would index the sample book first.
  writeFileSync(join(home, 'zebras.md'), '# Zebras\n\nA zebra is a striped horse.\n');
  await runInProcess(['ingest', 'zebras.md'], { home });
  const { stderr } = await runInProcess(['chat'], { home, input: '/model tinylama\n' });
  expect(stderr.replace(/\s+/g, ' ')).toContain(meant);
});

test('the name of a hosted model is near no file', async () => {
  const home = await homeWith({ 'tinyllama-1.1b-chat-v1.0.Q2_K.gguf': tiny });
  const { stderr } = await runInProcess(['ask', 'Why?', '--model', 'gpt-5-mini'], { home });
  expect(stderr).toContain('The model gpt-5-mini needs a key, and OPENAI_API_KEY is not set.');
  expect(stderr).not.toContain('Did you mean');
});

test('a path of what is no model is told as one, and no key is asked for', async () => {
  const home = await homeWith({});
  writeFileSync(join(home, 'README.md'), '# Notes');
  const faultOf = async (model: string, env = {}) => {
    const { code, stderr } = await runInProcess(['ask', 'Why?', '--model', model], { home, env });
    expect(code).toBe(3);
    return stderr;
  };
  expect(await faultOf('./README.md')).toContain('./README.md is not a GGUF file');
  expect(await faultOf('README.md')).toContain('README.md is not a GGUF file');
  expect(await faultOf('./models')).toContain('./models is not a GGUF file');
  expect(await faultOf('../none')).toContain('There is no model file ../none.');
  expect(await faultOf('./none', { OPENAI_API_KEY: 'a-key' })).toContain('There is no model file ./none.');
});

test('whoever has no model misses no engine, and a damaged file is unhealthy', async () => {
  const home = await temporaryDirectory();
  const env = { CITELOOP_ENGINE_DIR: join(home, 'engine') };
  const sound = JSON.parse((await runInProcess(['doctor', '--json'], { home, env })).stdout);
  expect(sound.ok).toBe(true);
  expect(sound.checks).toContainEqual(
    expect.objectContaining({ name: 'local engine', detail: expect.stringContaining('not installed') }),
  );
  mkdirSync(join(home, 'models'));
  writeFileSync(join(home, 'models', 'cut.gguf'), tiny.subarray(0, 100));
  const { code, stdout } = await runInProcess(['doctor', '--json'], { home, env });
  expect(code).toBe(3);
  expect(JSON.parse(stdout).checks).toContainEqual(
    expect.objectContaining({ name: 'local models', ok: false, fix: 'Fetch it again.' }),
  );
});

test('the names of models can be completed', async () => {
  const home = await homeWith({ 'tiny.gguf': tiny });
  const complete = async (...words: string[]) =>
    (await runInProcess(['--complete', ...words], { home })).stdout;
  expect(await complete('models', 'measure', 't')).toBe('tiny.gguf\tmodel\n');
  expect(await complete('ask', '--model', 't')).toBe('tiny.gguf\tmodel\n');
});

test('a model is measured once, and listed with it until it is another file', async () => {
  const home = await homeWith({ 'tiny.gguf': tiny });
  const env = { XDG_CACHE_HOME: join(home, 'cache') };
  const measured = await runInProcess(['models', 'measure', 'tiny', '--json'], { home, env });
  expect(measured).toMatchObject({ code: 0, stderr: '' });
  const { read, written } = JSON.parse(measured.stdout);
  expect(read).toBeGreaterThan(0);
  expect(written).toBeGreaterThan(0);
  const speedOf = async () =>
    JSON.parse((await runInProcess(['models', '--json'], { home, env })).stdout).models[0].speed;
  expect(await speedOf()).toMatchObject({ read, written });
  writeTinyGguf(join(home, 'models', 'tiny.gguf'), { seed: 2 });
  expect(await speedOf()).toBeNull();
});

test('what cannot be measured is told in a sentence', async () => {
  const home = await homeWith({ 'cut.gguf': tiny.subarray(0, 100) });
  const cut = await runInProcess(['models', 'measure', 'cut'], { home });
  expect(cut.code).toBe(3);
  expect(cut.stderr).toContain('is cut: it ends within its header.');
  const unknown = await runInProcess(['models', 'measure', 'other'], { home });
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain(`There is no model other in ${join(home, 'models')}.`);
});

test('a model in several files is one, with all their bytes, and a missing part is told', async () => {
  const { metadata, tensors } = tinyGguf();
  const first = ggufBytes({
    metadata: { ...metadata, 'split.count': { u32: 2 } },
    ...(tensors && { tensors }),
  });
  const home = await homeWith({
    'whole-00001-of-00002.gguf': first,
    'whole-00002-of-00002.gguf': Buffer.alloc(1000),
    'half-00001-of-00002.gguf': first,
  });
  const { models, damaged } = JSON.parse((await runInProcess(['models', '--json'], { home })).stdout);
  expect(models).toMatchObject([{ file: 'whole-00001-of-00002.gguf', bytes: first.length + 1000, parts: 2 }]);
  expect(damaged).toMatchObject([
    {
      file: 'half-00001-of-00002.gguf',
      fault: expect.stringMatching(/half-00002-of-00002\.gguf is missing\.$/),
    },
  ]);
});
