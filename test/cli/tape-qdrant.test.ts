import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { orSkipped, startQdrant } from '../support/qdrant-server.ts';
import { runCli } from '../support/run-cli.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

vi.setConfig({ testTimeout: 120_000 });

const KEY = 'qdrant-key-0123456789';

test('ingest, search and ask on a real Qdrant server replay without it and without the key', async ({
  skip,
}) => {
  const server = await orSkipped(() => startQdrant({ apiKey: KEY }));
  if (server === null) return skip();
  const home = await temporaryDirectory();
  await writeFile(join(home, 'nodes.md'), '# Nodes\n\nA node is a process that performs computation.\n');
  await writeFile(
    join(home, 'topics.md'),
    '# Topics\n\nA topic is a named bus for messages between nodes.\n',
  );
  const live = { home, env: { QDRANT_URL: server.url, QDRANT_API_KEY: KEY } };
  const on = ['--collection', 'small'];
  const ingest = ['ingest', 'nodes.md', 'topics.md', '--base-url', 'https://docs.test/', ...on];
  const runs = [
    await runCli([...ingest, '--record', 'ingest.tape.json'], live),
    await runCli(['search', 'What is a node?', ...on, '--record', 'search.tape.json'], live),
    await runCli(['ask', 'What is a node?', ...on, '--record', 'ask.tape.json'], live),
  ];
  await server.stop();
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);

  for (const name of ['ingest', 'search', 'ask']) {
    const text = await readFile(join(home, `${name}.tape.json`), 'utf8');
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(`"${hostname()} `);
  }
  const replayed = await runCli(['replay', 'ingest.tape.json', 'search.tape.json', 'ask.tape.json'], {
    home,
  });
  expect(replayed.stderr + replayed.stdout).not.toMatch(/drifted|cannot/);
  expect(replayed.code).toBe(0);
  const json = ['search', 'What is a node?', '--replay', 'search.tape.json', '--json'];
  const [first, second] = [await runCli(json, { home }), await runCli(json, { home })];
  expect(first.code).toBe(0);
  expect(second.stdout).toBe(first.stdout);
});
