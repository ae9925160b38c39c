import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programNode } from '../../src/cli/command-line.ts';
import {
  type CommandNode,
  listSubcommands,
  optionTakesValue,
  parseCommandLine,
  resolveDefaultCommand,
} from '../../src/cli/flags/command-definition.ts';
import { copyHomeWithBook } from '../support/copy-home.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { createTemporaryDirectory } from '../support/temporary-directory.ts';

test.each([
  ['serch foo', 'Unknown command "serch" for citeloop.', 'Did you mean search?'],
  ['sessions shw x', 'Unknown command "shw" for citeloop sessions.', 'Did you mean show?'],
  ['search x --topk 3', 'Unknown flag --topk for citeloop search.', 'Did you mean --top-k?'],
  ['--modell x', 'Unknown flag --modell for citeloop.', 'Did you mean --model?'],
  ['search x -k', '-k (--top-k) needs a value.', 'Number of passages, 1 to 100 (default 5).'],
  ['search x --top-k abc', '--top-k must be a number, not abc.', 'Number of passages, 1 to 100 (default 5).'],
  ['search x --top-k 200', '--top-k must be a whole number from 1 to 100, not 200.', ''],
  ['ask x --temperature 9', '--temperature must be a number from 0 to 2, not 9.', ''],
  [
    'ask x --policy alway',
    '--policy must be tool, always, first or never, not alway.',
    'Did you mean always?',
  ],
  [
    'ask x --rerank jugde',
    '--rerank must be words, cohere, endpoint, off or onnx:<directory>, not jugde.',
    '',
  ],
  [
    'chat --rerank jugde',
    '--rerank must be words, cohere, endpoint, off or onnx:<directory>, not jugde.',
    '',
  ],
  ['sessions show', 'Missing argument <id>.', '<id>: A session id'],
  ['collections copy a', 'Missing argument <to>.', '<to>: The copy'],
  ['tape', 'Missing command: show', ''],
  ['open', 'Missing argument <number>.', '<number>: '],
  ['eval import nosuch.csv', 'nosuch.csv does not exist.', 'Check the path.'],
  ['chat foo', 'Unexpected argument "foo" for citeloop chat.', ''],
  ['ask x --continue --session y', '--continue and --session cannot be used together.', ''],
  ['mcp --port 3', '--port needs --http.', ''],
  ['ask x --json --format md', '--json and --format md cannot be used together.', ''],
  ['config get nope', 'Unknown setting "nope".', 'Known: '],
  ['config get modle', 'Unknown setting "modle".', 'Did you mean model?'],
  ['config set topK 77', 'topK must be a whole number from 1 to 20, not 77.', ''],
  ['config set openaiApiKey x', 'Unknown setting', 'OPENAI_API_KEY'],
])('citeloop %s prints the error and a suggestion', async (line, said, hint) => {
  const { code, stdout, stderr } = await runInProcess(line.split(' '), {
    home: await createTemporaryDirectory(),
  });
  expect(code).toBe(2);
  const output = stdout + stderr;
  expect(output).toContain(line.includes('--json') ? JSON.stringify(said).slice(1, -1) : said);
  expect(output).toContain(hint);
});

test('a question without a command is answered with the command to ask it', async () => {
  const { code, stderr } = await runInProcess(['What is it?'], { home: await createTemporaryDirectory() });
  expect(code).toBe(2);
  expect(stderr).toContain('citeloop ask "What is it?"');
});

test('of a flag that is given several times, the last one counts', async () => {
  const home = await createTemporaryDirectory();
  await copyHomeWithBook(home);
  const flags =
    '-k 3 --top-k 1 --mode dense --mode lexical --collection x --collection sample_book --json --json';
  const { code, stdout } = await runInProcess(['search', 'ROS', ...flags.split(' ')], { home });
  expect(code).toBe(0);
  const { collection, mode, chunks } = JSON.parse(stdout);
  expect([collection, mode, chunks.length]).toEqual(['sample_book', 'lexical', 1]);
});

test('suggests the nearest collection, module and filter key', async () => {
  const home = await createTemporaryDirectory();
  await copyHomeWithBook(home);
  const output = async (...args: string[]) => (await runInProcess(args, { home })).stderr;
  expect(await output('collections', 'show', 'sample_bok')).toContain('Did you mean sample_book?');
  expect(await output('search', 'x', '--collection', 'sample_bok')).toContain('Did you mean sample_book?');
  expect(await output('search', 'x', '--mode', 'lexical', '--module', 'rso2')).toContain(
    'Did you mean ros2?',
  );
  const unknownKey = await output('search', 'x', '--mode', 'lexical', '--filter', 'modul=ros2');
  expect(unknownKey).toMatch(/no filter key "modul"\.\n {2}Did you mean module\? It has: module, /);
});

test('the help of the program fits on an 80x24 terminal', async () => {
  const { stdout } = await runInProcess(['--help'], { home: await createTemporaryDirectory() });
  const lines = stdout.split('\n');
  expect(lines.length).toBeLessThanOrEqual(24);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

test('the help of a command lists its own options first, and services and tapes last', async () => {
  const home = await createTemporaryDirectory();
  const { stdout } = await runInProcess(['ask', '--help', 'all'], { home });
  const order = [
    'Answer a question',
    'Arguments:',
    'Options:',
    'Examples:',
    'Global options:',
    'Services',
    'Tapes:',
  ];
  const places = order.map((part) => stdout.indexOf(part));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(Math.min(...places)).toBe(0);
});

test('the short help lists the common options and says how to list the others', async () => {
  const home = await createTemporaryDirectory();
  const short = (await runInProcess(['ask', '--help'], { home })).stdout;
  expect(short).toContain('--continue');
  expect(short).not.toContain('--qdrant-url');
  expect(short).toContain('citeloop ask --help all');
  expect(short.match(/^ {2}(?:-\w, | {4})--/gm)?.length).toBeLessThan(18);
});

test('-c names the collection, and -V prints the version', async () => {
  const home = await createTemporaryDirectory();
  expect((await runInProcess(['search', 'x', '-c', 'nowhere'], { home })).stderr).toContain('nowhere');
  expect((await runInProcess(['-V'], { home })).stdout).toMatch(/^\d+\.\d+/);
});

/** The arguments of citeloop in a shell line, which may contain other commands. */
function wordsOf(line: string): string[] {
  const [, own = ''] =
    /(?:^|[|(] ?)citeloop ([^|<>)]*)/.exec(`${line} `.replace(/"[^"]*"|'[^']*'/g, hidden)) ?? [];
  return own.split(' ').flatMap((word) => (word === '' ? [] : [word.replaceAll('\u00a0', ' ')]));
}

/** Replaces separators in a quoted text, so that it stays one word. */
function hidden(quoted: string): string {
  return quoted.slice(1, -1).replace(/[ |<>()]/g, '\u00a0');
}

function allCommands(command: CommandNode): CommandNode[] {
  return listSubcommands(command).flatMap((below) => [below, ...allCommands(below)]);
}

test('every command has an example in its help, and every example is accepted', async () => {
  const home = await createTemporaryDirectory();
  const commands = allCommands(programNode);
  expect(commands.length).toBeGreaterThan(35);
  for (const { name } of commands) {
    const { stdout } = await runInProcess([...name.split(' '), '--help'], { home });
    const [, section = ''] = /\nExamples:\n((?: .*\n)+)/.exec(stdout) ?? [];
    expect(section, name).toContain(`citeloop ${name}`.replace(/ list$/, ''));
  }
  for (const command of commands) {
    for (const [line] of command.definition.examples ?? []) {
      const { command: reached, words, flags } = parseCommandLine(programNode, wordsOf(line));
      const { name, positionals } = resolveDefaultCommand(reached);
      expect([reached.name, name], line).toContain(command.name);
      for (const { typed, option, value } of flags) {
        expect(option, `${typed} of ${line}`).toBeDefined();
        if (option === undefined) continue;
        if (optionTakesValue(option)) expect(value, `${typed} of ${line}`).toBeDefined();
        if (option.choices !== undefined) expect(option.choices, line).toContain(value);
      }
      expect(words.length, line).toBeGreaterThanOrEqual(
        positionals.filter(({ isRequired }) => isRequired).length,
      );
      if (!positionals.some(({ isVariadic }) => isVariadic))
        expect(words.length, line).toBeLessThanOrEqual(positionals.length);
      positionals.forEach(({ choices }, at) => {
        if (choices !== undefined && words[at] !== undefined) expect(choices, line).toContain(words[at]);
      });
    }
  }
});

test('option help has at most ten words, and commands are described in one line', () => {
  const long = allCommands(programNode).flatMap(({ name, definition }) => [
    ...(definition.describe.length > 68 ? [name] : []),
    ...Object.entries(definition.options ?? {})
      .filter(([, { describe }]) => describe.replace(/ \((?:default|--no-).*\)$/, '').split(' ').length > 10)
      .map(([option]) => `${name} --${option}`),
  ]);
  expect(long).toEqual([]);
});

async function candidates(home: string, ...words: string[]): Promise<string[]> {
  const { stdout } = await runInProcess(['--complete', ...words], { home });
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
}

test('completes commands, flags, values, collections, sessions and settings', async () => {
  const home = await createTemporaryDirectory();
  await copyHomeWithBook(home);
  await runInProcess(['ask', 'What is ROS 2?'], { home });
  expect(await candidates(home, 'se')).toEqual(['search', 'sessions', 'serve']);
  expect(await candidates(home, 'doc')).toEqual(['doctor']);
  expect(await candidates(home, 'sessions', 'e')).toEqual(['export']);
  expect(await candidates(home, 'ask', '--pol')).toEqual(['--policy']);
  expect(await candidates(home, 'ask', '--policy', 'a')).toEqual(['always']);
  expect(await candidates(home, 'ask', 'x', '--collection', '')).toEqual(['sample_book']);
  expect(await candidates(home, 'collections', 'show', '')).toEqual(['sample_book']);
  expect(await candidates(home, 'sessions', 'show', 'la')).toEqual(['last']);
  expect((await candidates(home, 'ask', '--session', '')).length).toBe(2);
  expect(await candidates(home, 'ask', '--model', 'of')).toEqual(['offline']);
  expect(await candidates(home, 'config', 'get', 'maxTu')).toEqual(['maxTurns', 'maxTurnSeconds']);
  expect(await candidates(home, 'eval', 'dif')).toEqual(['diff']);
  expect(await candidates(home, 'ingest', '')).toEqual([]);
});

test('a saved setting is used unless another source overrides it, and doctor shows its source', async () => {
  const home = await createTemporaryDirectory();
  await copyHomeWithBook(home);
  const file = join(home, 'config.json');
  await runInProcess(['config', 'set', 'collection', 'sample_book'], { home });
  await runInProcess(['config', 'set', 'top-k', '7'], { home });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ collection: 'sample_book', topK: 7 });
  const get = async (env: Record<string, string> = {}) =>
    (await runInProcess(['config', 'get', 'topK'], { home, env })).stdout;
  expect(await get()).toBe('7\n');
  await writeFile(join(home, 'citeloop.config.json'), '{"topK": 8}');
  expect(await get()).toBe('8\n');
  expect(await get({ AGENT_TOP_K: '9' })).toBe('9\n');
  const hidden = await runInProcess(['config', 'set', 'topK', '6'], { home });
  expect(hidden.stderr).toContain('Overridden here: 8 (');
  const { stdout } = await runInProcess(['config', '--json'], { home });
  expect(JSON.parse(stdout).settings).toContainEqual({
    name: 'collection',
    value: 'sample_book',
    origin: `${file} field collection`,
  });
  const doctor = await runInProcess(['doctor', '--json'], { home });
  const settings = JSON.parse(doctor.stdout).checks.find(({ name }: { name: string }) => name === 'settings');
  expect(settings.detail).toContain(`collection "sample_book" (${file} field collection)`);
  const removed = await runInProcess(['config', 'unset', 'collection'], { home });
  const again = await runInProcess(['config', 'unset', 'collection'], { home });
  expect(again.stdout).not.toBe(removed.stdout);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ topK: 6 });
});

test('every flag with a value takes it after a space or an equals sign', () => {
  for (const command of allCommands(programNode)) {
    const words = [...command.name.split(' '), ...command.positionals.map(({ name }) => name)];
    for (const [name, option] of Object.entries(command.options).filter(([, each]) =>
      optionTakesValue(each),
    )) {
      const { flags, words: found } = parseCommandLine(programNode, [...words, `--${name}`, 'value']);
      expect({ command: command.name, flags, found: found.at(-1) }).toEqual({
        command: command.name,
        flags: parseCommandLine(programNode, [...words, `--${name}=value`]).flags,
        found: command.positionals.at(-1)?.name,
      });
      expect(flags).toMatchObject([{ name, option, value: 'value' }]);
    }
  }
});
