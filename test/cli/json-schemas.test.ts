import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { outputSchemas, renderJsonSchemas } from '../../scripts/json-schemas.ts';
import { programNode } from '../../src/cli/command-line.ts';
import { acceptedOptions, type CommandNode } from '../../src/cli/flags/command-definition.ts';
import { runProgram } from '../server/start-program.ts';
import { copyHomeWithBook } from '../support/copy-home.ts';
import { createModelDirectory } from '../support/model-directory.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { createSmallHome, serveOfflineModel } from '../support/serve-offline-model.ts';

const home = mkdtempSync(join(tmpdir(), 'citeloop-schemas-'));
beforeAll(() => copyHomeWithBook(home));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** The problems of a value; null if there are none. */
function validate(name: string, value: unknown): string | null {
  const schema = JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8'));
  return ajv.validate(schema, value) ? null : ajv.errorsText();
}

async function run(args: readonly string[], directory: string): Promise<unknown[]> {
  const { stdout } = await runInProcess([...args, '--json'], { home: directory });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Runs a command with --json and compares each line that it prints with a schema. */
async function expectValid([schema = '', ...args]: readonly string[], directory = home): Promise<void> {
  const printed = await run(args, directory);
  expect(printed.length, args.join(' ')).toBeGreaterThan(0);
  for (const value of printed) expect(validate(schema, value), `${schema}: ${args.join(' ')}`).toBeNull();
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
    ['open', 'open', '1'],
    ['sessions-exported', 'sessions', 'export', 'last', '--output', join(home, 'last.md')],
    ['sessions-export', 'sessions', 'export', 'last', '--format', 'json'],
    ['deleted', 'sessions', 'delete', 'last', '--yes'],
    ['doctor', 'doctor'],
    ['encoders-add', 'encoders', 'add', encoder, '--name', 'tiny'],
    ['encoders', 'encoders'],
    ['deleted', 'encoders', 'remove', 'tiny'],
    ['config-list', 'config'],
    ['config-get', 'config', 'get', 'topK'],
    ['config-set', 'config', 'set', 'topK', '4'],
    ['config-set', 'config', 'unset', 'topK'],
    ['trusted', 'trust', join(home, 'project')],
    ['trust-list', 'trust', '--list'],
    ['revoked', 'trust', join(home, 'project'), '--revoke'],
    ['collections-copy', 'collections', 'copy', 'hr', 'hr2'],
    ['collections-remove', 'collections', 'remove', 'hr2', 'leave.md'],
    ['deleted', 'collections', 'delete', 'hr', '--yes'],
    ['eval-init', 'eval', 'init', '--collection', 'sample_book', '--count', '2'],
    ['eval-import', 'eval', 'import', join(home, 'questions.csv')],
  ];
  await writeFile(join(home, 'questions.csv'), 'question,answer\nWhat is ROS 2?,middleware\n');
  await mkdir(join(home, 'project'));
  await writeFile(join(home, 'project', 'citeloop.config.json'), '{"baseUrl":"http://127.0.0.1:9/v1"}');
  for (const command of commands) await expectValid(command);
  expect(validate('ask', { answer: 1 })).not.toBeNull();
});

test('the output of commands on tapes matches its schema', async () => {
  const { home } = await createSmallHome();
  const { flags, url } = await serveOfflineModel();
  const ask = ['ask', 'What is a node?', '--collection', 'small', ...flags, '--record'];
  await runInProcess([...ask, 'a.tape.json'], { home });
  await runInProcess([...ask, 'b.tape.json', '--top-k', '1'], { home });
  const commands: [schema: string, ...args: string[]][] = [
    ['tape-show', 'tape', 'show', 'a.tape.json'],
    ['tape-check', 'tape', 'check', 'a.tape.json', 'none.tape.json'],
    ['tape-export', 'tape', 'export', 'a.tape.json', 'a.har'],
    ['tape-import', 'tape', 'import', 'a.har', 'c.tape.json'],
    ['tape-diff', 'tape', 'diff', 'a.tape.json', 'b.tape.json'],
    ['tape-renew', 'tape', 'renew', 'a.tape.json', '--base-url', url],
    ['replay', 'replay', 'a.tape.json'],
    ['replay', 'replay', 'a.tape.json', '--top-k', '1'],
  ];
  for (const command of commands) await expectValid(command, home);
});

test('the answers of a piped chat and the address of a server match their schemas', async () => {
  const input = 'What is ROS 2?\n';
  const { stdout } = await runInProcess(['chat', '--json', '-c', 'sample_book'], { home, input });
  expect(validate('ask', JSON.parse(stdout))).toBeNull();
  for (const command of [['serve'], ['mcp', '--http']]) {
    const { ready, stop } = await runProgram([...command, '-c', 'sample_book'], { home });
    expect(validate('listening', ready)).toBeNull();
    await stop();
  }
});

test('every command with --json has a schema, and docs/json.md lists it', () => {
  const described = Object.values(outputSchemas).map(({ description = '' }) => description);
  const missing = listCommands(programNode)
    .filter((node) => 'json' in acceptedOptions(node) && node.name !== 'completion')
    .map(({ name }) => name.replace(/ list$/, ''))
    .filter((name) => !described.some((text) => text.includes(`${name} --`)));
  expect(missing).toEqual([]);
  const docs = readFileSync('docs/json.md', 'utf8');
  const rows = Object.entries(outputSchemas).map(
    ([name, { description }]) => `| [\`${name}\`](../schemas/${name}.schema.json) | ${description} |`,
  );
  expect(rows.filter((row) => !docs.includes(row))).toEqual([]);
});

function listCommands(node: CommandNode): CommandNode[] {
  return [...(node.definition.handler ? [node] : []), ...node.commands.flatMap(listCommands)];
}

test('a report of an evaluation matches its schema', async () => {
  const cases = join(home, 'cases.jsonl');
  await writeFile(cases, '{"id":"ros","question":"What is ROS 2?","expectedAnswer":"middleware"}\n');
  const report = join(home, 'report.json');
  await runInProcess(['eval', cases, '--collection', 'sample_book', '--json', report], { home });
  expect(validate('report', JSON.parse(readFileSync(report, 'utf8')))).toBeNull();
});
