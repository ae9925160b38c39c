import { policySchema } from '../../domain/agent-config.ts';
import { findNearestName } from '../../text/nearest-name.ts';
import { type SlashCommandName, slashCommands } from './slash-commands.ts';

const COMMAND_NAMES = Object.keys(slashCommands) as SlashCommandName[];

export type ChatLine =
  | { kind: 'blank' }
  | { kind: 'question'; text: string }
  | { kind: 'command'; name: SlashCommandName; argument: string }
  | { kind: 'unknown'; name: string; nearest: string | undefined };

const ALIASES = new Map<string, SlashCommandName>([
  ['clear', 'reset'],
  ['exit', 'quit'],
  ['?', 'help'],
  ['', 'help'],
]);
/** Words that are commands without a slash, too. */
const BARE_COMMAND = /^(?:clear|exit|quit)$/i;

/** A command is one line that starts with a slash and a word. */
export function parseChatLine(message: string): ChatLine {
  const text = message.trim();
  if (text === '') return { kind: 'blank' };
  const marker = /^open \[?(\d+)\]?$/i.exec(text)?.[1];
  if (marker !== undefined) return { kind: 'command', name: 'open', argument: marker };
  const match = /^\/([a-z]*|\?)(?:[ \t]+(.*))?$/i.exec(BARE_COMMAND.test(text) ? `/${text}` : text);
  if (match === null) return { kind: 'question', text };
  const word = (match[1] ?? '').toLowerCase();
  const name = COMMAND_NAMES.find((known) => known === word) ?? ALIASES.get(word);
  return name === undefined
    ? { kind: 'unknown', name: word, nearest: findNearestName(word, COMMAND_NAMES) }
    : { kind: 'command', name, argument: (match[2] ?? '').trim() };
}

/** Completes a command, or the argument of one that has known values; `names` are those of its collections or models. */
export function completeChatLine(line: string, names: readonly string[] = []): string[] {
  if (!line.startsWith('/')) return [];
  const values = new Map<string, readonly string[]>([
    ['policy', policySchema.options],
    ['collection', names],
    ['model', names],
    ['filter', ['module=', 'chapter=', 'title=', 'url=', 'off']],
    ['resume', ['last']],
  ]);
  const [, command] = /^\/([a-z]+) /.exec(line) ?? [];
  const candidates =
    command === undefined
      ? COMMAND_NAMES.map((name) => `/${name}`)
      : (values.get(command) ?? []).map((value) => `/${command} ${value}`);
  return candidates.filter((candidate) => candidate.startsWith(line));
}
