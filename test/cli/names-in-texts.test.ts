import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { slashCommands } from '../../src/cli/chat/slash-commands.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { secretVariables, settingVariables } from '../../src/config/settings.ts';
import { agentConfigSchema } from '../../src/domain/agent-config.ts';

const ROOT = join(import.meta.dirname, '../..');
const sources = readAll('src', '.ts');
const documents = [...readAll('docs', '.md'), { path: 'README.md', text: read('README.md') }];

/** Flags of other programs in our texts. */
const OF_OTHERS = new Set([
  'flags',
  ...['password', 'decrypt'], // qpdf
  ...['pack-destination', 'ignore-scripts', 'loglevel', 'cache', 'prefix', 'omit'], // npm
  ...['goto', 'line'], // editors
  'complete', // asked by shells
  ...['input-type', 'max-old-space-size', 'import', 'semi-space-growth-factor'], // Node
  ...['enable', 'enable-auto-tool-choice', 'tool-call-parser', 'api-key'], // vLLM
  'jinja', // llama.cpp
  'task', // optimum-cli
  ...['transport', 'add-mcp'], // editors that speak MCP
]);

/** The flags in the help of each command, by its name. */
const commands = new Map<string, Set<string>>();
let flags = new Set<string>();

beforeAll(async () => {
  await learn('');
  flags = new Set([...commands.values()].flatMap((known) => [...known]));
});

test('every flag in messages and docs exists', () => {
  const unknown = [...sources, ...documents].flatMap(({ path, text }) =>
    found(text, /(?<![\w-])--((?:no-)?[a-z][a-z-]*[a-z])\b/g)
      .filter((flag) => !isFlag(flag) && !OF_OTHERS.has(flag))
      .map((flag) => `${path} names --${flag}`),
  );
  expect(unknown).toEqual([]);
});

test('every setting, command and slash command in messages exists', () => {
  const unknown = sources.flatMap(({ path, text }) => [
    ...found(text, /\b(?:setting|bySetting|settingOf)\('(\w+)'/g)
      .filter((name) => !isFlag(kebab(name)))
      .map((name) => `${path} names the setting ${name}`),
    ...[...text.matchAll(/\bcommand\([`']([a-z ]+)[^,)]*(?:, \{([^}]*)\})?/g)].flatMap(
      ([, words = '', settings = '']) => {
        const missing = found(settings, /(?:^|,)\s*(\w+)/g).filter(
          (name) => !commands.get(words.trim())?.has(kebab(name)),
        );
        if (!commands.has(words.trim())) return [`${path} names citeloop ${words}`];
        return missing.map((name) => `${path} names citeloop ${words} with ${name}`);
      },
    ),
    ...found(text, /(?:\\`|: |with )citeloop ([a-z]+)\b/g)
      .filter((name) => !commands.has(name))
      .map((name) => `${path} names citeloop ${name}`),
    ...found(text, /(?:(?:chatCommand|slashCommand)\('|(?:with|type) \/)([a-z]+)/g)
      .filter((word) => !Object.hasOwn(slashCommands, word))
      .map((word) => `${path} names /${word}`),
  ]);
  expect(unknown).toEqual([]);
});

test('every environment variable in messages exists', () => {
  const read = Object.keys({ ...settingVariables, ...secretVariables });
  const prefixes = [...new Set(read.map((name) => name.split('_')[0]))].join('|');
  // Only after a word, because constants in the code have similar names.
  const named = new RegExp(`\\b(?:[sS]et|or|names|check|[uU]se|another|with) ((?:${prefixes})_[A-Z_]+)`, 'g');
  const unknown = sources.flatMap(({ path, text }) =>
    found(text, named)
      .filter((name) => !read.includes(name))
      .map((name) => `${path} names ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('every setting of an agent has a flag, except lists of phrases', () => {
  const names = Object.keys(agentConfigSchema.def.innerType.shape);
  expect(names.filter((name) => !commands.get('ask')?.has(kebab(name)))).toEqual(['abstentionPhrases']);
});

/** The first group of every match. */
function found(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

function isFlag(flag: string): boolean {
  return flags.has(flag) || (flag.startsWith('no-') && flags.has(flag.slice(3)));
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Reads the help of a command and its subcommands. */
async function learn(words: string): Promise<void> {
  const help = await helpOf(words);
  const names = found(help, /^ {2,6}((?:-\w, )?--[a-z-]+(?:, --[a-z-]+)*)/gm)
    .join(', ')
    .split(', ');
  commands.set(words, new Set(names.filter((name) => name.startsWith('--')).map((name) => name.slice(2))));
  const list = /\nCommands:\n((?: {2}.*\n)+)/.exec(help)?.[1] ?? '';
  for (const name of found(list, /^ {2}([a-z]+)\b/gm)) {
    const path = `${words} ${name}`.trim();
    if (!commands.has(path)) await learn(path);
  }
}

async function helpOf(words: string): Promise<string> {
  let help = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    help += String(text);
    return true;
  });
  const before = [process.stdout, process.stderr].map((stream) => stream.listeners('error'));
  try {
    await runCommandLine([...words.split(' ').filter((word) => word !== ''), '--help', 'all']);
    return help;
  } finally {
    write.mockRestore();
    [process.stdout, process.stderr].forEach((stream, index) => {
      for (const listener of stream.listeners('error')) {
        if (!before[index]?.includes(listener)) stream.off('error', listener as () => void);
      }
    });
  }
}

function readAll(folder: string, ending: string): { path: string; text: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => ({ path: `${folder}/${path}`, text: read(join(folder, path)) }));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
