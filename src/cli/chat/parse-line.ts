import { nearestName } from '../../config/nearest-name.ts';

/** The commands of a chat, without their slash. */
export const COMMAND_NAMES = [
  'help',
  'sources',
  'why',
  'reset',
  'policy',
  'model',
  'save',
  'sessions',
  'resume',
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
  const match = /^\/([a-z]*|\?)(?:[ \t]+(.*))?$/i.exec(text);
  if (match === null) return { kind: 'question', text };
  const word = (match[1] ?? '').toLowerCase();
  const name =
    COMMAND_NAMES.find((known) => known === word) ??
    (Object.hasOwn(aliases, word) ? aliases[word] : undefined);
  if (name === undefined) return { kind: 'unknown', name: word, nearest: nearestName(word, COMMAND_NAMES) };
  return { kind: 'command', name, argument: (match[2] ?? '').trim() };
}
