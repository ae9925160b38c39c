import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startOrSkip, startQdrant } from '../../support/qdrant-server.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const KEY = 'qdrant-key-0123456789';

test('replays ingest, search and ask on a Qdrant server without the server and the key', async ({ skip }) => {
  const server = await startOrSkip(() => startQdrant({ apiKey: KEY }));
  if (server === null) return skip();
  const [home, elsewhere] = [await createTemporaryDirectory(), await createTemporaryDirectory()];
  const nodes = '# Nodes\n\nA node is a process that performs computation.\n';
  const topics = '# Topics\n\nA topic is a named bus for messages between nodes.\n';
  for (const place of [home, elsewhere]) {
    await writeFile(join(place, 'nodes.md'), nodes);
    await mkdir(join(place, 'more'));
    await writeFile(join(place, 'more/topics.md'), topics);
  }
  const live = { home, env: { QDRANT_URL: server.url, QDRANT_API_KEY: KEY } };
  const on = ['--collection', 'small'];
  const ingest = ['ingest', 'nodes.md', 'more', ...on];
  const runs = [
    await runInProcess([...ingest, '--record', 'ingest.tape.json'], live),
    await runInProcess(['search', 'What is a node?', ...on, '--record', 'search.tape.json'], live),
    await runInProcess(['ask', 'What is a node?', ...on, '--record', 'ask.tape.json'], live),
    await runInProcess([...ingest, '--record', 'again.tape.json'], live),
  ];
  await server.stop();
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);

  for (const name of ['ingest', 'search', 'ask', 'again']) {
    const text = await readFile(join(home, `${name}.tape.json`), 'utf8');
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(`"${hostname()} `);
    expect(text).not.toContain(home);
    await writeFile(join(elsewhere, `${name}.tape.json`), text);
  }
  const tapes = ['ingest.tape.json', 'search.tape.json', 'ask.tape.json', 'again.tape.json'];
  const replayed = await runInProcess(['replay', ...tapes], { home: elsewhere });
  expect(replayed.stderr + replayed.stdout).not.toMatch(/different|cannot/);
  expect(replayed.code).toBe(0);
  const json = ['search', 'What is a node?', '--replay', 'search.tape.json', '--json'];
  const [first, second] = [await runInProcess(json, { home }), await runInProcess(json, { home })];
  expect(first.code).toBe(0);
  expect(second.stdout).toBe(first.stdout);
});
