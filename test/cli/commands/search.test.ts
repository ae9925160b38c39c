import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RetrievalContext } from '../../../src/domain/retrieval-context.ts';
import { retrievalContextSchema } from '../../../src/domain/retrieval-context.ts';
import { copyHomeWithBook } from '../../support/copy-home.ts';
import type { CliResult } from '../../support/run-cli.ts';
import { type InProcessOptions, runInProcess } from '../../support/run-in-process.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

/** A shared data directory; the first search indexes the sample book, as for a new user. */
const home = mkdtempSync(join(tmpdir(), 'citeloop-search-'));
const search = (args: string[], options: Partial<InProcessOptions> = {}) =>
  runInProcess(['search', ...args], { home, ...options });

async function found(...args: string[]): Promise<RetrievalContext & { explain?: Record<string, unknown>[] }> {
  const { stdout, code } = await search([...args, '--json']);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

let firstRun: CliResult;
beforeAll(async () => {
  firstRun = await copyHomeWithBook(home);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('the first search of a new user indexes the sample book and prints cited hits', () => {
  expect(firstRun.code).toBe(0);
  expect(firstRun.stderr).toContain('sample book');
  expect(firstRun.stdout).toContain('[1] ROS 2 Overview');
  expect(firstRun.stdout).toContain('ROS 2 is an open-source set of libraries');
  expect(firstRun.stdout).toMatch(/ros2\/01-ros2-overview\.md/);
});

test('output that is not a terminal has no escape sequences', () => {
  expect(firstRun.stdout + firstRun.stderr).not.toContain('\x1b');
});

test('--json prints one RetrievalContext with valid chunks', async () => {
  const { stdout } = await search(['What is ROS 2?', '--json', '--top-k', '3']);
  expect(stdout.trim().split('\n')).toHaveLength(1);
  const context = retrievalContextSchema.parse(JSON.parse(stdout));
  expect(context.chunks).toHaveLength(3);
  for (const chunk of context.chunks) {
    expect(chunk.module).toBe('ros2');
    expect(chunk.url).toMatch(/^ros2\/\d\d-.*\.md$/);
    expect(chunk.uri).toMatch(/^file:\/\/\/.*fixtures\/book\/ros2\//);
    expect(chunk.chunkId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

test('an exact identifier finds the page that contains it', async () => {
  for (const identifier of ['rclpy.spin_once', 'max_step_size', 'BasicWriter', '--symlink-install']) {
    const { chunks } = await found(identifier.startsWith('-') ? `colcon build ${identifier}` : identifier);
    expect(chunks[0]?.text, identifier).toContain(identifier);
  }
});

test('a paraphrase finds the page with the same meaning', async () => {
  const { chunks } = await found(
    'Can pictures from a renderer replace hand-labelled photographs?',
    '--top-k',
    '3',
  );
  expect(chunks.map(({ module }) => module)).toContain('isaac');
});

test('a question outside the corpus finds nothing and reports the closest passage', async () => {
  for (const question of [
    'What is the capital of France?',
    'How do I bake sourdough bread?',
    'Who won the match last night?',
  ]) {
    expect((await found(question)).chunks, question).toEqual([]);
  }
  const { stdout, code } = await search(['What is the capital of France?']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/No results in sample_book\. The closest, .* below the threshold of 0\.3\./);
});

test('--module and --filter limit the search to matching documents', async () => {
  const isaac = await found('frames per second', '--module', 'isaac', '--threshold', '0');
  expect(new Set(isaac.chunks.map(({ module }) => module))).toEqual(new Set(['isaac']));
  const two = await found(
    'robot',
    '--filter',
    'module=intro',
    '--filter',
    'module=vla',
    '--threshold',
    '0',
    '-k',
    '50',
  );
  expect(new Set(two.chunks.map(({ module }) => module))).toEqual(new Set(['intro', 'vla']));
});

test('--explain tells a ranking that is not used from one without a match', async () => {
  const { stdout: dense } = await search(['ROS', '--explain', '-k', '1', '--mode', 'dense']);
  const { stdout: lexical } = await search(['ROS', '--explain', '-k', '1', '--mode', 'lexical']);
  expect(dense).toContain('words: not used');
  expect(lexical).toContain('meaning: not used');
});

test('--explain prints the ranks and scores of each hit', async () => {
  const { explain } = await found('quality of service', '--explain', '-k', '3');
  const scores = explain?.map(({ rerankScore }) => Number(rerankScore)) ?? [];
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  expect(scores.at(-1)).toBeGreaterThan(0);
  expect(explain?.[0]).toMatchObject({ lexicalRank: expect.any(Number), denseScore: expect.any(Number) });
  const { stdout } = await search(['quality of service', '--explain', '-k', '1']);
  expect(stdout).toMatch(/words: rank \d+, [\d.]+ · meaning: rank \d+, [\d.]+ · fused: rank 1/);
});

test('every mode scores between 0 and 1 and omits unused ranks', async () => {
  for (const mode of ['hybrid', 'dense', 'lexical']) {
    const { chunks, explain = [] } = await found(
      'lidar range',
      '--mode',
      mode,
      '--explain',
      '--threshold',
      '0',
      '-k',
      '20',
    );
    expect(chunks).toHaveLength(20);
    for (const { score } of chunks) expect(score >= 0 && score <= 1).toBe(true);
    for (const { lexicalRank, denseRank } of explain) {
      if (mode === 'lexical') expect(denseRank).toBeNull();
      if (mode === 'dense') expect(lexicalRank).toBeNull();
    }
  }
});

test('lexical search does not need the embedding model', async () => {
  const env = { CITELOOP_MODEL_DIR: join(home, 'no-such-model') };
  const { code, stdout } = await search(['rclpy.spin_once', '--mode', 'lexical'], { env });
  expect(code).toBe(0);
  expect(stdout).toContain('spin_once');
});

test('bad input fails with one line, a hint and exit code 2', async () => {
  for (const [args, message] of [
    [[''], 'The query is blank'],
    [['  \t '], 'The query is blank'],
    [[], 'The query is blank'],
    [['x', '--top-k', '0'], '--top-k must be a whole number from 1 to 100'],
    [['x', '--top-k', '101'], '--top-k must be'],
    [['x', '--top-k', '2.5'], '--top-k must be'],
    [['x', '--top-k', 'many'], '--top-k must be'],
    [['x', '--threshold', '1.5'], '--threshold must be a number from 0 to 1'],
    [['x', '--module', 'nope'], 'has no module "nope"'],
    [['x', '--filter', 'nonsense'], 'not of the form key=value'],
    [['x', '--mode', 'psychic'], 'mode'],
    [['x', '--nonsense'], 'nonsense'],
    [
      ['x', '--collection', 'missing'],
      'Unknown collection "missing".\n  Create it with: citeloop ingest <path> --collection missing\n',
    ],
    [['x', '--collection', '../../etc'], 'collection'],
  ] as const) {
    const { code, stdout, stderr } = await search([...args]);
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(3);
    expect(stderr).not.toMatch(/\bat .*\.js:/);
  }
});

test('--json prints a failure as an ErrorResponse', async () => {
  const { code, stdout } = await search(['', '--json']);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { errorType: 'invalid_input', message: 'The query is blank.' },
  });
});

test('terminal escapes and control characters in documents never reach the terminal', async () => {
  const directory = await createTemporaryDirectory();
  await mkdir(join(directory, 'docs'));
  const evil = '\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m \u009b31m\u202ereversed\x07';
  await writeFile(join(directory, 'docs', 'a.md'), `# Title ${evil}\n\nA zebra ${evil} eats grass.\n`);
  await writeFile(
    join(directory, 'docs', 'b.html'),
    `<title>Zebra ${evil}</title><p>Zebra &#27;[31m ${evil}</p>`,
  );
  const options = { home: directory };
  expect((await runInProcess(['ingest', 'docs', '-c', 'web_documents'], options)).code).toBe(0);
  for (const args of [
    ['search', 'zebra'],
    ['search', 'zebra', '--json'],
    ['collections', 'show', 'web_documents'],
  ]) {
    const { stdout, stderr, code } = await runInProcess(args, options);
    expect(code).toBe(0);
    expect(stdout.toLowerCase()).toContain('zebra');
    expect(stdout + stderr).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  }
});
