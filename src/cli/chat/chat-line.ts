import { policySchema } from '../../domain/agent-config.ts';
import { nearestName } from '../../text/nearest-name.ts';

/** The commands of a chat, without their slash. */
export const COMMAND_NAMES = [
  'help',
  'sources',
  'source',
  'open',
  'why',
  'reset',
  'policy',
  'model',
  'collection',
  'filter',
  'cost',
  'save',
  'sessions',
  'resume',
  'fork',
  'good',
  'bad',
  'quit',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

export type ChatLine =
  | { kind: 'blank' }
  | { kind: 'question'; text: string }
  | { kind: 'command'; name: CommandName; argument: string }
  | { kind: 'unknown'; name: string; nearest: string | undefined };

const aliases: Readonly<Record<string, CommandName>> = {
  clear: 'reset',
  exit: 'quit',
  '?': 'help',
  '': 'help',
};
const plainWords: Readonly<Record<string, CommandName>> = { clear: 'reset', exit: 'quit', quit: 'quit' };

/** What a person means by a message: a command is one line that begins with a slash and a word. */
export function parseLine(message: string): ChatLine {
  const text = message.trim();
  if (text === '') return { kind: 'blank' };
  const plain = Object.hasOwn(plainWords, text.toLowerCase()) ? plainWords[text.toLowerCase()] : undefined;
  if (plain !== undefined) return { kind: 'command', name: plain, argument: '' };
  const number = /^open \[?(\d+)\]?$/i.exec(text)?.[1];
  if (number !== undefined) return { kind: 'command', name: 'open', argument: number };
  const match = /^\/([a-z]*|\?)(?:[ \t]+(.*))?$/i.exec(text);
  if (match === null) return { kind: 'question', text };
  const word = (match[1] ?? '').toLowerCase();
  const name =
    COMMAND_NAMES.find((known) => known === word) ??
    (Object.hasOwn(aliases, word) ? aliases[word] : undefined);
  if (name === undefined) return { kind: 'unknown', name: word, nearest: nearestName(word, COMMAND_NAMES) };
  return { kind: 'command', name, argument: (match[2] ?? '').trim() };
}

/** For Tab: the commands that begin so, and the values that some of them know. */
export function completeCommand(line: string, collections: readonly string[] = []): string[] {
  const values: Readonly<Record<string, readonly string[]>> = {
    policy: policySchema.options,
    collection: collections,
    filter: ['module=', 'chapter=', 'title=', 'url=', 'off'],
    resume: ['last'],
  };
  const [, command = ''] = /^\/([a-z]+) /.exec(line) ?? [];
  const candidates =
    command === ''
      ? COMMAND_NAMES.map((name) => `/${name}`)
      : (Object.hasOwn(values, command) ? (values[command] ?? []) : []).map(
          (value) => `/${command} ${value}`,
        );
  return line.startsWith('/') ? candidates.filter((candidate) => candidate.startsWith(line)) : [];
}
