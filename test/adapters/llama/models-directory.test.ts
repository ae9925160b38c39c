import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findModelFile, listModelFiles } from '../../../src/adapters/llama/models-directory.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function directoryWith(...names: string[]): Promise<string> {
  const directory = await temporaryDirectory();
  for (const name of names) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), '');
  }
  return directory;
}

test('the models of a directory are found in its folders too, each by its first part, and nothing else is', async () => {
  const directory = await directoryWith(
    'small.gguf',
    'publisher/model/Large-Q4.GGUF',
    'split-00001-of-00002.gguf',
    'split-00002-of-00002.gguf',
    'notes.txt',
    'a/b/c/deep.gguf',
  );
  symlinkSync(join(directory, 'small.gguf'), join(directory, 'linked.gguf'));
  expect((await listModelFiles(directory)).map(({ name }) => name)).toEqual([
    'linked.gguf',
    'publisher/model/Large-Q4.GGUF',
    'small.gguf',
    'split-00001-of-00002.gguf',
  ]);
  expect(await listModelFiles(join(directory, 'none'))).toEqual([]);
});

test('a model is named by a path, or as it lies in the directory, with or without the ending', async () => {
  const directory = await directoryWith('small.gguf', 'folder/other.gguf');
  const cwd = await directoryWith('here.gguf', 'small.gguf');
  const find = (model: string) => findModelFile(model, { directory, cwd });
  expect(await find('./here.gguf')).toBe(join(cwd, 'here.gguf'));
  expect(await find(join(directory, 'small.gguf'))).toBe(join(directory, 'small.gguf'));
  // What lies here is nearer than what lies there.
  expect(await find('small.gguf')).toBe(join(cwd, 'small.gguf'));
  expect(await find('small')).toBe(join(directory, 'small.gguf'));
  expect(await find('folder/other')).toBe(join(directory, 'folder/other.gguf'));
});

test('a name without the ending that no file has is left to services', async () => {
  const directory = await directoryWith('small.gguf');
  expect(await findModelFile('gpt-5-mini', { directory })).toBeNull();
  expect(await findModelFile('notes', { directory: join(directory, 'none') })).toBeNull();
});

test('a file that is not there is told, with the one that was probably meant', async () => {
  const directory = await directoryWith('qwen-1.5b-q4.gguf');
  await expect(findModelFile('qwen-1.5-q4.gguf', { directory })).rejects.toMatchObject({
    kind: 'configuration_error',
    message: `There is no model file qwen-1.5-q4.gguf, nor one of that name in ${directory}.`,
    hint: 'Did you mean qwen-1.5b-q4.gguf?',
  });
  await expect(findModelFile('mistral.gguf', { directory })).rejects.toMatchObject({
    hint: 'There is: qwen-1.5b-q4.gguf.',
  });
  await expect(findModelFile('mistral.gguf', { directory: join(directory, 'none') })).rejects.toMatchObject({
    hint: 'Name the path of a GGUF file, or put it there.',
  });
});
