import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderJsonSchemas } from '../../scripts/json-schemas.ts';
import { copyHomeWithBook } from '../support/copy-home.ts';
import { createModelDirectory } from '../support/model-directory.ts';
import { runInProcess } from '../support/run-in-process.ts';

const home = mkdtempSync(join(tmpdir(), 'citeloop-schemas-'));
beforeAll(() => copyHomeWithBook(home));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** The problems of a value; null if there are none. */
function validate(name: string, value: unknown): string | null {
  const schema = JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8'));
  return ajv.validate(schema, value) ? null : ajv.errorsText();
}

async function run(...args: string[]): Promise<unknown[]> {
  const { stdout } = await runInProcess([...args, '--json'], { home });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

test('schemas/ is what the code generates', () => {
  const files = globSync('schemas/*').map((path) => [path, JSON.parse(readFileSync(path, 'utf8'))]);
  const generated = Array.from(renderJsonSchemas(), ([path, text]) => [path, JSON.parse(text)]);
  expect(Object.fromEntries(files)).toEqual(Object.fromEntries(generated));
});

test('the output of every command matches its schema', async () => {
  await writeFile(join(home, 'leave.md'), '# Leave\n\nEmployees have 25 days of leave.\n');
  const encoder = await createModelDirectory();
  const commands: [schema: string, ...args: string[]][] = [
    ['ingest', 'ingest', join(home, 'leave.md'), '--collection', 'hr'],
    ['search', 'search', 'ROS 2', '--collection', 'sample_book', '--explain'],
    ['ask', 'ask', 'What is ROS 2?', '--collection', 'sample_book'],
    ['run-event', 'ask', 'What is ROS 2?', '--collection', 'sample_book', '--stream'],
    ['error', 'ask', 'What?', '--collection', 'nowhere'],
    ['collections', 'collections'],
    ['collections-show', 'collections', 'show', 'hr'],
    ['collections-describe', 'collections', 'describe', 'hr'],
    ['sessions', 'sessions'],
    ['sessions-show', 'sessions', 'show', 'last'],
    ['sessions-export', 'sessions', 'export', 'last', '--format', 'json'],
    ['deleted', 'sessions', 'delete', 'last', '--yes'],
    ['doctor', 'doctor'],
    ['encoders-add', 'encoders', 'add', encoder, '--name', 'tiny'],
    ['encoders', 'encoders'],
    ['deleted', 'encoders', 'remove', 'tiny'],
    ['config-list', 'config'],
    ['config-get', 'config', 'get', 'topK'],
    ['config-set', 'config', 'set', 'topK', '4'],
    ['trust-list', 'trust', '--list'],
    ['deleted', 'collections', 'delete', 'hr', '--yes'],
  ];
  for (const [schema, ...args] of commands) {
    const printed = await run(...args);
    expect(printed.length, args.join(' ')).toBeGreaterThan(0);
    for (const value of printed) expect(validate(schema, value), `${schema} ${args.join(' ')}`).toBeNull();
  }
  expect(validate('ask', { answer: 1 })).not.toBeNull();
});

test('a report of an evaluation matches its schema', async () => {
  const cases = join(home, 'cases.jsonl');
  await writeFile(cases, '{"id":"ros","question":"What is ROS 2?","expectedAnswer":"middleware"}\n');
  const report = join(home, 'report.json');
  await runInProcess(['eval', cases, '--collection', 'sample_book', '--json', report], { home });
  expect(validate('report', JSON.parse(readFileSync(report, 'utf8')))).toBeNull();
});
