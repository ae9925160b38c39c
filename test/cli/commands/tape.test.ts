import { globSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTape } from '../../../src/tape/read-tape.ts';
import { copyHomeWithBook } from '../../support/copy-home.ts';
import { runCli } from '../../support/run-cli.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { createSmallHome, serveOfflineModel } from '../../support/serve-offline-model.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

const KEY = 'sk-test-0123456789abcdefghij';

const question = ['ask', 'What is a node?', '--collection', 'small'];

test('replays a recorded run to the same bytes without the server and the key', async () => {
  const place = await createSmallHome();
  const { flags, stop } = await serveOfflineModel();
  const recorded = await runCli([...question, ...flags, '--json', '--record', 'node.tape.json'], {
    ...place,
    env: { OPENAI_API_KEY: KEY },
  });
  await stop();
  expect(recorded).toMatchObject({ code: 0, stderr: expect.stringContaining('Recorded 3 exchanges') });
  const text = await readFile(join(place.home, 'node.tape.json'), 'utf8');
  expect(text).not.toContain(KEY);

  const sessions = await runInProcess(['sessions', '--json'], place);
  const replay = ['ask', 'What is a node?', '--replay', 'node.tape.json', '--json', '--stream'];
  const [first, second] = [await runCli(replay, place), await runInProcess(replay, place)];
  expect(first.code).toBe(0);
  expect(second.stdout).toBe(first.stdout);
  const { answer, citations } = JSON.parse(recorded.stdout);
  const last = JSON.parse(first.stdout.trim().split('\n').at(-1) ?? '');
  expect(last.turn.response).toMatchObject({ answer, citations });
  expect((await runInProcess(['sessions', '--json'], place)).stdout).toBe(sessions.stdout);

  const again = await runCli(['replay', 'node.tape.json'], place);
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('same (3 of 3 exchanges used, 1 turn)'),
  });

  const missed = await runInProcess(['ask', 'What is a topic?', '--replay', 'node.tape.json'], place);
  expect(missed.code).toBe(7);
  expect(missed.stderr).toContain('messages[1].content: "What is a node?" -> "What is a topic?"');

  const fork = await runInProcess(['replay', 'node.tape.json', '--policy', 'always', '--json'], place);
  expect(fork.code).toBe(7);
  expect(JSON.parse(fork.stdout).tapes[0]).toMatchObject({
    firstDifferentTurn: 1,
    missing: [{}],
    changed: { policy: 'always' },
  });

  const shown = await runInProcess(['tape', 'show', 'node.tape.json'], place);
  expect(shown.stdout).toMatch(/1\. What is a node\?.*search: .*cited \[1\] quoted Nodes.*3 calls:/s);
});

test('a tape contains no directories and replays where the documents are in another directory', async () => {
  const { flags, stop } = await serveOfflineModel();
  const [here, there] = [await createTemporaryDirectory(), await createTemporaryDirectory()];
  for (const folder of [join(here, 'docs'), join(there, 'deep/handbook')]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'nodes.md'), '# Nodes\n\nA node is a process that performs computation.\n');
  }
  const collection = ['--collection', 'small'];
  expect(await runInProcess(['ingest', 'docs', ...collection], { home: here })).toMatchObject({ code: 0 });
  expect(await runInProcess(['ingest', 'deep/handbook', ...collection], { home: there })).toMatchObject({
    code: 0,
  });
  const recorded = await runInProcess([...question, ...flags, '--record', 'node.tape.json'], { home: here });
  await stop();
  expect(recorded).toMatchObject({ code: 0, stdout: expect.stringContaining('nodes.md') });
  const text = await readFile(join(here, 'node.tape.json'), 'utf8');
  expect(text).not.toContain(here);
  await writeFile(join(there, 'node.tape.json'), text);
  const replayed = await runInProcess(['replay', 'node.tape.json'], { home: there });
  expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('same') });
});

test('replays a chat turn by turn and reports drift', async () => {
  const place = await createSmallHome();
  const { flags, stop } = await serveOfflineModel();
  const chat = await runInProcess(['chat', '--collection', 'small', ...flags, '--record', 'chat.tape.json'], {
    ...place,
    input: 'What is a node?\nWhat is a topic?\n',
  });
  await stop();
  expect(chat.code).toBe(0);
  expect((await runInProcess(['replay', 'chat.tape.json'], place)).stdout).toContain('same');

  await writeFile(
    join(place.home, 'topics.md'),
    '# Topics\n\nA topic is a channel by which nodes send messages.\n',
  );
  await runInProcess(['ingest', '.', '--base-url', 'https://docs.test/', '--collection', 'small'], place);
  const drifted = await runInProcess(['replay', 'chat.tape.json'], place);
  expect(drifted.code).toBe(7);
  expect(drifted.stdout).toContain('different chunks');
});

test('records and compares a run of the offline model, which makes no calls', async () => {
  const place = await createSmallHome();
  const recorded = await runInProcess([...question, '--record', 'off.tape.json'], place);
  expect(recorded.stderr).toMatch(/Recorded the run in \S+off\.tape\.json .*\n/);
  expect(await runInProcess(['replay', 'off.tape.json'], place)).toMatchObject({
    code: 0,
    stdout: 'off.tape.json: same (no service calls, 1 turn)\n',
  });
  const fork = await runInProcess(['replay', 'off.tape.json', '--policy', 'never', '--json'], place);
  expect(fork.code).toBe(0);
  expect(JSON.parse(fork.stdout).tapes[0]).toMatchObject({ firstDifferentTurn: 1 });
});

test('replays a resumed session in memory, as it was when it was recorded', async () => {
  const place = await createSmallHome();
  await runInProcess(question, place);
  const went = await runInProcess(
    ['ask', 'And a topic?', '--collection', 'small', '--continue', '--json', '--record', 'on.tape.json'],
    place,
  );
  expect(JSON.parse(went.stdout)).toMatchObject({ turnNumber: 2 });
  await runInProcess(['sessions', 'delete', 'last', '--yes'], place);
  const replayed = await runInProcess(
    ['ask', 'And a topic?', '--continue', '--json', '--replay', 'on.tape.json'],
    place,
  );
  expect(JSON.parse(replayed.stdout)).toMatchObject({
    turnNumber: 2,
    answer: JSON.parse(went.stdout).answer,
  });
  expect((await runInProcess(['replay', 'on.tape.json'], place)).code).toBe(0);
});

test('replays search and ingest without changing collections', async () => {
  const place = await createSmallHome();
  await runInProcess(['search', 'node', '--collection', 'small', '--record', 'search.tape.json'], place);
  await runInProcess(['ingest', '.', '--collection', 'new', '--record', 'ingest.tape.json'], place);
  await runInProcess(['collections', 'delete', 'new', '--yes'], place);
  const replayed = await runInProcess(['replay', 'search.tape.json', 'ingest.tape.json', '--json'], place);
  expect(JSON.parse(replayed.stdout).tapes).toMatchObject([{ differences: [] }, { differences: [] }]);
  expect((await runInProcess(['replay', 'search.tape.json'], place)).stdout).toContain(
    'same (no service calls)',
  );
  expect(replayed.code).toBe(0);
  expect((await runInProcess(['collections', '--json'], place)).stdout).not.toContain('"new"');
  const fewer = await runInProcess(['replay', 'search.tape.json', '--top-k', '1', '--json'], place);
  expect(JSON.parse(fewer.stdout).tapes).toMatchObject([
    { ok: true, changed: { topK: 1 }, outputs: { search: { chunks: [{}] } } },
  ]);

  await runInProcess(['ingest', '.', '--collection', 'small', '--record', 'again.tape.json'], place);
  expect(await runInProcess(['replay', 'again.tape.json'], place)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('an ingest into an existing collection'),
  });
});

test('rejects tapes that cannot be used with the reason', async () => {
  const place = await createSmallHome();
  await runInProcess([...question, '--record', 'a.tape.json'], place);
  const file = (name: string) => join(place.home, name);
  const text = await readFile(file('a.tape.json'), 'utf8');
  await writeFile(file('cut.tape.json'), text.slice(0, text.indexOf('"turns"')));
  await writeFile(file('newer.tape.json'), text.replace('"version": 3', '"version": 9'));
  await writeFile(file('edited.tape.json'), text.replace('A node is', 'A nude is'));
  await writeFile(file('package.json'), '{"name":"x"}');
  const faults = {
    'cut.tape.json': 'is incomplete: its recording was interrupted',
    'newer.tape.json': 'has format 9, made by a newer citeloop',
    'edited.tape.json': 'was edited after it was recorded',
    'package.json': 'is not a tape: it has no version',
    'none.tape.json': 'no such file or directory',
  };
  for (const [name, fault] of Object.entries(faults)) {
    const result = await runInProcess(['replay', name], place);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(fault) });
  }
  const tampered = JSON.parse(text);
  tampered.inputs.flags.mode = 'telepathy';
  tampered.origin = 'written by hand';
  await writeFile(file('tampered.tape.json'), JSON.stringify(tampered));
  expect(await runInProcess(['replay', 'tampered.tape.json'], place)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The "inputs" field of tampered.tape.json is not valid at mode'),
  });
  const other = await runInProcess(['search', 'x', '--replay', 'a.tape.json'], place);
  expect(other).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('was recorded by ask, not by search'),
  });
  const over = await runInProcess([...question, '--record', 'package.json'], place);
  expect(over).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('exists and is not a tape'),
  });
  expect(await readFile(file('package.json'), 'utf8')).toBe('{"name":"x"}');
  expect((await runInProcess([...question, '--on-miss', 'record'], place)).stderr).toContain(
    '--on-miss needs a tape',
  );
  expect((await runInProcess([...question, '--record', 'b', '--redact', '('], place)).stderr).toContain(
    'not a regular expression',
  );
  const checked = await runInProcess(['tape', 'check', 'a.tape.json', 'edited.tape.json', '--json'], place);
  expect(checked.code).toBe(2);
  expect(JSON.parse(checked.stdout).tapes).toMatchObject([{ problems: [] }, { problems: [{}] }]);
});

test('an interrupted recording is a readable, incomplete tape', async () => {
  const place = await createSmallHome();
  const result = await runCli(['chat', '--collection', 'small', '--record', 'cut.tape.json'], {
    ...place,
    input: `${'What is a node?\n'.repeat(400)}`,
    onStart(child) {
      child.stdout?.once('data', () => child.kill('SIGINT'));
    },
  });
  expect(result).toMatchObject({ code: 130, stderr: expect.stringContaining('cut.tape.json.partial') });
  const tape = readTape(join(place.home, 'cut.tape.json.partial'));
  expect(tape).toMatchObject({ complete: false, header: { command: 'chat' } });
});

test('names a setting that was not set in the recorded run as the reason of a difference', async () => {
  const place = { home: await createTemporaryDirectory() };
  await copyHomeWithBook(place.home);
  await runInProcess(['ask', 'What is a topic?', '--record', 'a.tape.json'], place);
  const fewer = await runInProcess(['replay', 'a.tape.json', '--top-k', '1'], place);
  expect(fewer.stdout).toContain('First difference at turn 1. Likely reason: topK is 1 (recorded: not set).');
});

test('converts a tape to HAR and back, and removes texts on the way', async () => {
  const place = await createSmallHome();
  const run = (...args: string[]) => runInProcess(['tape', ...args], place);
  await runInProcess([...question, '--record', 'a.tape.json'], place);
  expect((await run('check', 'a.tape.json', '--redact', 'computation')).code).toBe(2);
  expect((await run('export', 'a.tape.json', 'a.har')).code).toBe(0);
  expect((await run('export', 'a.tape.json', 'a.har')).stderr).toContain('a.har already exists');
  expect((await run('import', 'a.har', 'b.tape.json', '--redact', 'computation')).code).toBe(0);
  expect(await readFile(join(place.home, 'b.tape.json'), 'utf8')).not.toContain('performs computation');
  expect((await run('check', 'b.tape.json', '--redact', 'computation')).code).toBe(0);
  expect((await run('show', 'b.tape.json', '--json')).stdout).toContain('What is a node?');
});

test('the recorded fixtures replay without differences in an empty home directory', async () => {
  const home = await createTemporaryDirectory();
  const recorded = globSync(
    join(import.meta.dirname, '../../../fixtures/tapes/*-qdrant.tape.json'),
  ).toSorted();
  expect(recorded.length).toBeGreaterThan(3);
  const replayed = await runInProcess(['replay', ...recorded, '--json'], { home });
  const { tapes } = JSON.parse(replayed.stdout);
  for (const { tape, differences, missing } of tapes)
    expect({ tape, differences, missing }).toEqual({ tape, differences: [], missing: [] });
  expect(replayed.code).toBe(0);
});

test('replays a tape that was redacted with --redact', async () => {
  const place = await createSmallHome();
  const { flags, stop } = await serveOfflineModel();
  const recorded = await runInProcess(
    [...question, ...flags, '--redact', 'computation', '--record', 'r.tape.json'],
    place,
  );
  await stop();
  expect(recorded.code).toBe(0);
  const text = await readFile(join(place.home, 'r.tape.json'), 'utf8');
  expect(JSON.parse(text).redact).toEqual(['computation']);
  expect(text.match(/computation/g)).toHaveLength(1);
  expect(await runInProcess(['replay', 'r.tape.json'], place)).toMatchObject({ code: 0 });
});
