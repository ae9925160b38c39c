import { AppError } from '../faults/app-error.ts';
import { nearestName } from '../text/nearest-name.ts';
import { oneLine } from '../text/visible-text.ts';
import {
  type CommandOutline,
  lastWord,
  type OptionOutline,
  optionsOf,
  readTyped,
  type Typed,
} from './flags/outline.ts';

/**
 * What is wrong with how a command was typed, in our words and with what was probably meant. `complaint` is what yargs
 * says, of which only the kind is used; what it is about is read from the arguments themselves.
 */
export function usageFault(program: CommandOutline, args: readonly string[], complaint: string): AppError {
  const typed = readTyped(program, args);
  const see = `See citeloop ${typed.command.name} --help.`.replace('citeloop  ', 'citeloop ');
  const { message, hint } = explained(typed, complaint);
  return new AppError('invalid_input', message, { hint: hint === undefined ? see : `${hint} ${see}` });
}

/** A number that is none, which yargs lets through. */
export function wrongNumber(program: CommandOutline, args: readonly string[]): AppError | null {
  const { flags } = readTyped(program, args);
  for (const { option, value } of flags) {
    if (option?.type !== 'number' || value === undefined) continue;
    if (value.trim() !== '' && !Number.isNaN(Number(value))) continue;
    return usageFault(program, args, 'not a number');
  }
  return null;
}

interface Explained {
  message: string;
  hint?: string | undefined;
}

function explained(typed: Typed, complaint: string): Explained {
  const { command, flags } = typed;
  const missing = flags.find(
    ({ option, value }) => option && option.type !== 'boolean' && value === undefined,
  );
  if (missing?.option !== undefined) return withoutValue(missing.typed, missing.option);
  const unknown = flags.find(({ option, name }) => option === undefined && !ALWAYS_KNOWN.has(name));
  if (unknown !== undefined) return unknownFlag(command, unknown);
  const wrong = flags.flatMap(({ option, value, typed: flag }) =>
    option && value !== undefined && isWrong(option, value) ? [wrongValue(flag, option, value)] : [],
  )[0];
  if (wrong !== undefined) return wrong;
  const pair = /^Arguments (\S+) and (\S+) are mutually exclusive/.exec(complaint);
  if (pair !== null) return { message: `--${pair[1]} and --${pair[2]} contradict each other.` };
  const needed = /^\s*(\S+) -> (\S+)/m.exec(complaint);
  if (needed !== null) return { message: `--${needed[1]} needs --${needed[2]}.` };
  return wrongWords(typed) ?? { message: asSentence(complaint) };
}

const ALWAYS_KNOWN = new Set(['help', 'h', 'version', 'v']);

function withoutValue(flag: string, option: OptionOutline): Explained {
  const name = flag === `--${option.name}` ? flag : `${flag} (--${option.name})`;
  return { message: `${name} needs a value.`, hint: `${flag}: ${option.describe}.` };
}

function unknownFlag(command: CommandOutline, { typed, name }: Typed['flags'][number]): Explained {
  const known = optionsOf(command).flatMap((option) => [option.name, ...option.aliases]);
  const plain = name.replace(/^no-/, '');
  const nearest = nearestName(plain, known);
  const where = command.name === '' ? 'citeloop' : `citeloop ${command.name}`;
  return {
    message: `${where} has no flag ${oneLine(typed, 40)}.`,
    hint: nearest === undefined ? undefined : `Did you mean ${nearest.length === 1 ? '-' : '--'}${nearest}?`,
  };
}

function isWrong({ choices, type }: OptionOutline, value: string): boolean {
  if (choices.length > 0) return !choices.includes(value);
  return type === 'number' && (value.trim() === '' || Number.isNaN(Number(value)));
}

function wrongValue(subject: string, { choices, describe }: OptionOutline, value: string): Explained {
  const given = oneLine(value, 30);
  if (choices.length === 0) {
    return { message: `${subject} must be a number, not ${given}.`, hint: `${subject}: ${describe}.` };
  }
  const nearest = nearestName(value, choices);
  return {
    message: `${subject} must be ${oneOf(choices)}, not ${given}.`,
    hint: nearest === undefined ? undefined : `Did you mean ${nearest}?`,
  };
}

/** A command that there is not, a word too many, too few, or one that is none of those to choose from. */
function wrongWords({ command, words }: Typed): Explained | undefined {
  const meant = command.commands.find(({ isDefault }) => isDefault) ?? command;
  const { positionals } = meant;
  const [first] = words;
  const where = command.name === '' ? 'citeloop' : `citeloop ${command.name}`;
  if (command.commands.length > 0 && first !== undefined && positionals.length === 0) {
    const names = command.commands.map(({ name }) => lastWord(name));
    const nearest = nearestName(first, names);
    return {
      message: `${where} has no command ${oneLine(first, 40)}.`,
      hint: nearest === undefined ? `It has ${names.join(', ')}.` : `Did you mean ${nearest}?`,
    };
  }
  if (command.commands.length > 0 && first === undefined && meant === command) {
    const names = command.commands.map(({ name }) => lastWord(name));
    return { message: `${where} needs a command: ${oneOf(names)}.` };
  }
  const lacking = positionals.slice(words.length).filter(({ isRequired }) => isRequired);
  if (lacking.length > 0) {
    const names = lacking.map(({ name }) => `<${name}>`).join(' and ');
    const [{ name, describe } = { name: '', describe: '' }] = lacking;
    return {
      message: `${where} needs ${names}.`,
      hint: describe === '' ? undefined : `<${name}>: ${describe}.`,
    };
  }
  for (const [index, { name, choices }] of positionals.entries()) {
    const word = words[index];
    if (word === undefined || choices.length === 0 || choices.includes(word)) continue;
    const nearest = nearestName(word, choices);
    return {
      message: `<${name}> must be ${oneOf(choices)}, not ${oneLine(word, 30)}.`,
      hint: nearest === undefined ? undefined : `Did you mean ${nearest}?`,
    };
  }
  const surplus = words[positionals.length];
  if (surplus === undefined || positionals.some(({ isMany }) => isMany)) return undefined;
  return { message: `${where} does not know what to do with ${oneLine(surplus, 40)}.` };
}

function oneOf(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function asSentence(complaint: string): string {
  const line = oneLine(complaint, 200);
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
