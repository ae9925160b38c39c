import { AppError } from '../faults/app-error.ts';
import { findNearestName } from '../text/nearest-name.ts';
import { oneLine } from '../text/visible-text.ts';
import {
  acceptedOptions,
  type CommandNode,
  lastWord,
  listSubcommands,
  type OptionDefinition,
  optionTakesValue,
  type ParsedCommandLine,
  parseCommandLine,
  resolveDefaultCommand,
} from './flags/command-definition.ts';

interface UsageProblem {
  message: string;
  hint?: string | undefined;
}

/**
 * Explains why yargs refused a command line, with the nearest name where one was misspelled. `refusal` is what yargs
 * says; it is used where the command line itself shows no reason.
 */
export function diagnoseUsageError(program: CommandNode, args: readonly string[], refusal: string): AppError {
  const line = parseCommandLine(program, args);
  const { message, hint } = wrongFlag(line) ?? wrongWord(line) ?? { message: toSentence(refusal) };
  const help = pointToHelp(line.command);
  return new AppError('invalid_input', message, { hint: hint === undefined ? help : `${hint} ${help}` });
}

export function pointToHelp(command: CommandNode): string {
  return `See ${fullName(command)} --help.`;
}

export function isNumeric(text: string): boolean {
  return text.trim() !== '' && !Number.isNaN(Number(text));
}

function wrongFlag({ command, flags }: ParsedCommandLine): UsageProblem | undefined {
  const given = new Set(flags.map(({ name }) => name));
  for (const { typed, name, option, value } of flags) {
    if (option === undefined || name === null) return unknownFlag(command, typed);
    if (optionTakesValue(option) && !option.optionalValue && value === undefined) {
      const label = typed === `--${name}` ? typed : `${typed} (--${name})`;
      return { message: `${label} needs a value.`, hint: `${typed}: ${option.describe}.` };
    }
    const wrong = wrongValue(typed, option, value) ?? wrongPair(name, option, given);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function unknownFlag(command: CommandNode, typed: string): UsageProblem {
  const known = Object.entries(acceptedOptions(command)).flatMap(([name, { alias }]) => [
    name,
    alias ?? name,
  ]);
  const nearest = findNearestName(typed.replace(/^--?(no-)?/, ''), known);
  return {
    message: `Unknown flag ${oneLine(typed, 40)} for ${fullName(command)}.`,
    hint: nearest && `Did you mean ${nearest.length === 1 ? '-' : '--'}${nearest}?`,
  };
}

function wrongValue(
  typed: string,
  { choices, type, describe }: OptionDefinition,
  value: string | undefined,
): UsageProblem | undefined {
  if (value === undefined) return undefined;
  if (type === 'number' && !isNumeric(value)) {
    const message = `${typed} must be a number, not ${oneLine(value, 30)}.`;
    return { message, hint: `${typed}: ${describe}.` };
  }
  return wrongChoice(typed, choices, value);
}

function wrongChoice(
  subject: string,
  choices: readonly string[] = [],
  value: string,
): UsageProblem | undefined {
  if (choices.length === 0 || choices.includes(value)) return undefined;
  const nearest = findNearestName(value, choices);
  return {
    message: `${subject} must be ${formatChoices(choices)}, not ${oneLine(value, 30)}.`,
    hint: nearest && `Did you mean ${nearest}?`,
  };
}

function wrongPair(
  name: string,
  { conflicts = [], implies }: OptionDefinition,
  given: ReadonlySet<string | null>,
): UsageProblem | undefined {
  const other = [conflicts].flat().find((each) => given.has(each));
  if (other !== undefined) return { message: `--${name} and --${other} cannot be used together.` };
  if (implies === undefined || given.has(implies)) return undefined;
  return { message: `--${name} needs --${implies}.` };
}

/** An unknown command, or a word that is missing, not one of the choices, or one too many. */
function wrongWord({ command, words }: ParsedCommandLine): UsageProblem | undefined {
  const runs = resolveDefaultCommand(command);
  const [first] = words;
  const names = listSubcommands(command).map(({ name }) => lastWord(name));
  if (names.length > 0 && runs.positionals.length === 0 && (first !== undefined || runs === command)) {
    if (first === undefined) return { message: `Missing command: ${formatChoices(names)}.` };
    if (command.name === '' && /\s/.test(first)) {
      const hint = `To ask a question: citeloop ask "${oneLine(first, 60)}".`;
      return { message: `Unknown command "${oneLine(first, 40)}".`, hint };
    }
    const nearest = findNearestName(first, names);
    return {
      message: `Unknown command "${oneLine(first, 40)}" for ${fullName(command)}.`,
      hint: nearest === undefined ? `Commands: ${names.join(', ')}.` : `Did you mean ${nearest}?`,
    };
  }
  for (const [index, { name, choices, describe, isRequired }] of runs.positionals.entries()) {
    const word = words[index];
    if (word === undefined && isRequired) {
      return { message: `Missing argument <${name}>.`, hint: `<${name}>: ${describe}.` };
    }
    const wrong = word === undefined ? undefined : wrongChoice(`<${name}>`, choices, word);
    if (wrong !== undefined) return wrong;
  }
  const extra = words[runs.positionals.length];
  if (extra === undefined || runs.positionals.some(({ isVariadic }) => isVariadic)) return undefined;
  return { message: `Unexpected argument "${oneLine(extra, 40)}" for ${fullName(command)}.` };
}

function fullName({ name }: CommandNode): string {
  return name === '' ? 'citeloop' : `citeloop ${name}`;
}

function formatChoices(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function toSentence(refusal: string): string {
  const line = oneLine(refusal, 200);
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
