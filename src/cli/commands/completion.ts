import { existsSync } from 'node:fs';
import { createApp } from '../../app/create-app.ts';
import { sessionsPath } from '../../app/sessions.ts';
import { loadConfig } from '../../config/load-config.ts';
import { settingNames } from '../../config/settings.ts';
import { OFFLINE_MODEL } from '../../domain/choices.ts';
import { oneLine } from '../../text/visible-text.ts';
import {
  acceptedOptions,
  type CommandNode,
  lastWord,
  namedCommands,
  parseCommandLine,
  takesValue,
} from '../flags/command-definition.ts';
import { completionScripts } from './completion-scripts.ts';

/** A word that could stand here, and what it means. */
interface Candidate {
  word: string;
  describe: string;
}

const SHOWN_SESSIONS = 30;

export interface CompletionFlags {
  shell?: keyof typeof completionScripts | undefined;
}

export function printCompletion({ shell = 'bash' }: CompletionFlags): void {
  process.stdout.write(completionScripts[shell]);
}

/** Prints what the last of the words could become, one a line, with what it means after a tab. */
export async function printCandidates(program: CommandNode, words: readonly string[]): Promise<void> {
  const typed = words.at(-1) ?? '';
  // The value of `--model=name` is completed as that of `--model name`.
  const [, joined = '', begun = typed] = /^(--[^=]+=)(.*)$/s.exec(typed) ?? [];
  const before = [...words.slice(0, -1), ...(joined === '' ? [] : [joined.slice(0, -1)])];
  for (const { word, describe } of await candidatesFor(program, before, begun)) {
    if (word.startsWith(begun)) process.stdout.write(`${joined}${word}\t${oneLine(describe, 80)}\n`);
  }
}

async function candidatesFor(
  program: CommandNode,
  before: readonly string[],
  begun: string,
): Promise<Candidate[]> {
  const { command, words, flags } = parseCommandLine(program, before);
  const last = flags.at(-1);
  if (last?.option && takesValue(last.option) && last.value === undefined && before.at(-1) === last.typed) {
    return valuesOf(last.name ?? '', last.option.choices ?? [], before);
  }
  if (begun.startsWith('-')) {
    const given = new Set(flags.map(({ name }) => name));
    return Object.entries(acceptedOptions(command))
      .filter(([name, { array }]) => array || !given.has(name))
      .map(([name, { describe }]) => ({ word: `--${name}`, describe }));
  }
  const commands = (words.length > 0 ? [] : namedCommands(command)).map(({ name, definition }) => ({
    word: lastWord(name),
    describe: definition.describe,
  }));
  const place = command.positionals[words.length];
  const values = place === undefined ? [] : await valuesOf(place.name, place.choices ?? [], before);
  return [...commands, ...values];
}

/** Values that are known by the name of what takes them. */
async function valuesOf(
  name: string,
  choices: readonly string[],
  before: readonly string[],
): Promise<Candidate[]> {
  if (choices.length > 0) return choices.map((word) => ({ word, describe: '' }));
  const config = /(?:^|\n)--config[=\n](.+)/.exec(before.join('\n'))?.[1];
  switch (name) {
    case 'collection':
    case 'name':
    case 'from':
      return collections(config);
    case 'session':
    case 'id':
      return sessions(config);
    case 'model':
      return models(config);
    case 'since':
      return runs(config);
    case 'setting':
      return settingNames.map((word) => ({ word, describe: '' }));
    default:
      return [];
  }
}

async function collections(configPath: string | undefined): Promise<Candidate[]> {
  const config = loadConfig({ configPath });
  // A server far away is not asked at every press of a key.
  if (config.store !== 'sqlite') return [];
  const app = createApp(config, { signal: new AbortController().signal, onEvent: () => {} });
  try {
    return (await app.catalog.list()).map((word) => ({ word, describe: 'collection' }));
  } finally {
    await app.close();
  }
}

async function runs(configPath: string | undefined): Promise<Candidate[]> {
  const { listRuns } = await import('../evaluation/run-archive.ts');
  const names = await listRuns(loadConfig({ configPath }).home);
  return ['last', ...names.reverse()].map((word) => ({ word, describe: 'evaluation' }));
}

async function pastSessions(configPath: string | undefined) {
  const config = loadConfig({ configPath });
  if (!existsSync(sessionsPath(config))) return [];
  const { openSessions } = await import('../../app/sessions.ts');
  const store = await openSessions(config);
  try {
    return await store.list({ limit: SHOWN_SESSIONS });
  } finally {
    await store.close();
  }
}

async function sessions(configPath: string | undefined): Promise<Candidate[]> {
  const found = await pastSessions(configPath);
  return [
    ...(found.length > 0 ? [{ word: 'last', describe: 'The newest' }] : []),
    ...found.map(({ sessionId, title }) => ({ word: sessionId.slice(0, 8), describe: title ?? '' })),
  ];
}

/** The configured model and those of past sessions; no service is asked for its models. */
async function models(configPath: string | undefined): Promise<Candidate[]> {
  const config = loadConfig({ configPath });
  const used = (await pastSessions(configPath)).map((session) => session.model);
  return [...new Set([OFFLINE_MODEL, config.agent.model, ...used])].map((word) => ({
    word,
    describe: 'model',
  }));
}
