import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createModelDirectory } from '../../support/model-directory.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const SUBJECTS = [
  ['zebras', 'Zebras are striped relatives of the horse. They live in herds on the plains of Africa.'],
  ['bread', 'Bread is baked from flour and water. The dough must rest before it goes into the oven.'],
  ['chess', 'A bishop moves diagonally over the board. The king is lost when it cannot leave a check.'],
  ['rain', 'Rain falls when drops in a cloud grow heavy. Meteorologists measure it in millimetres a day.'],
  ['trains', 'Trains run on steel rails at fixed times. A signal box keeps two of them apart on one line.'],
  ['violins', 'A violin has four strings tuned in fifths. Its bow is strung with the hair of a horse.'],
  ['taxes', 'Taxes on wages are paid every month. A return says at the end of the year what was too much.'],
  ['bees', 'Bees gather nectar and make honey of it. A hive has one queen and thousands of workers.'],
  ['glass', 'Glass is made of molten sand. It is blown, pressed or poured while it is still soft.'],
  ['moons', 'Moons circle planets as planets circle stars. Ours takes about a month for one round.'],
  ['knots', 'A bowline makes a loop that does not slip. Sailors tie it to hold a boat at the pier.'],
  ['paint', 'Paint dries when its solvent has gone. Two thin coats last longer than a thick one.'],
] as const;

test('ingests, searches and answers with an ONNX model from a directory', async () => {
  const home = await createTemporaryDirectory();
  await mkdir(join(home, 'docs'));
  for (const [name, text] of SUBJECTS)
    await writeFile(join(home, 'docs', `${name}.md`), `# ${name}\n\n${text}\n`);
  const directory = await createModelDirectory();
  const run = (args: string[]) => runInProcess([...args, '--embedder', `onnx:${directory}`], { home });

  const ingested = await run(['ingest', 'docs', '--collection', 'own']);
  expect(ingested).toMatchObject({ code: 0, stdout: expect.stringContaining('12 added; 12 chunks written') });
  expect((await run(['doctor'])).stdout).toContain('384 dimensions, threshold 0');
  await writeFile(join(directory, 'citeloop.json'), '{ "baseline": 0.05 }');
  expect((await run(['doctor'])).stdout).toContain('384 dimensions, threshold 0.3');

  const search = async (query: string) =>
    JSON.parse((await run(['search', query, '--collection', 'own', '--json'])).stdout);
  expect((await search('striped animals of Africa')).chunks[0]).toMatchObject({ title: 'zebras' });
  expect((await search('price of crude oil in dollars')).chunks).toEqual([]);

  const question = ['ask', 'How does a bishop move?', '--collection', 'own', '--json'];
  expect(JSON.parse((await run(question)).stdout)).toMatchObject({
    grounded: true,
    checkedBy: 'words',
    citations: [{ title: 'chess' }],
  });
});

test('rejects an invalid model directory with a hint', async () => {
  const home = await createTemporaryDirectory();
  const run = (...args: string[]) => runInProcess(args, { home });
  expect(await run('search', 'x', '--embedder', 'psychic')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('minilm, openai, cohere or onnx:<directory>'),
  });
  expect(await run('search', 'x', '--rerank', 'onnx:/nonexistent')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('There is no model directory /nonexistent.'),
  });
  expect(await run('search', 'x', '--rerank', 'cohere')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('COHERE_API_KEY is not set'),
  });
});
