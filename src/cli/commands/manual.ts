import type { CommandOutline, OptionOutline } from '../flags/outline.ts';
import { COMMON_GROUP } from '../flags/outline.ts';
import { spelled, usageOf } from '../help-text.ts';

/** The manual page in the language of `man`, of what the commands say of themselves. */
export function manualPage(program: CommandOutline, version: string): string {
  const lines = [
    `.TH CITELOOP 1 "" "citeloop ${version}" "User Commands"`,
    '.SH NAME',
    `citeloop \\- ${escaped(lowerFirst(program.describe.replace(/\.$/, '')))}`,
    '.SH SYNOPSIS',
    '.B citeloop',
    '.RI [ command ] " " [ arguments ] " " [ options ]',
    '.SH DESCRIPTION',
    escaped(program.describe),
    'Without a command it opens a chat.',
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => commandLines(command)),
    '.SH OPTIONS OF EVERY COMMAND',
    ...program.options.flatMap(optionLines),
    '.SH EXIT STATUS',
    ...EXIT_CODES.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, escaped(meaning)]),
    '.SH FILES',
    '.TP',
    '.I citeloop.config.json',
    'Settings of a project, in its directory.',
    '.TP',
    '.I ~/.config/citeloop/config.json',
    'Settings of a user; see citeloop config.',
    '.SH ENVIRONMENT',
    'The file .env.example of the package lists every variable that is read.',
    'EDITOR and BROWSER say what opens a source, and PAGER what shows long output; PAGER=cat shows it at once.',
  ];
  return `${lines.join('\n')}\n`;
}

const EXIT_CODES = [
  ['0', 'Done.'],
  ['1', 'A defect of citeloop.'],
  ['2', 'Bad usage or input.'],
  ['3', 'Configuration or authentication.'],
  ['4', 'A search failed.'],
  ['5', 'The model or the network failed after retries.'],
  ['6', 'Not grounded where it was required.'],
  ['7', 'A replay missed a call or drifted.'],
  ['8', 'A quality gate failed.'],
  ['130', 'Interrupted.'],
] as const;

function commandLines(command: CommandOutline): string[] {
  const { name, describe, commands } = command;
  // What is meant where no command below is named is told as the command's own.
  const meant = commands.find((below) => below.name === name);
  const positionals = [...command.positionals, ...(meant?.positionals ?? [])];
  const examples = [...command.examples, ...(meant?.examples ?? [])];
  const options = Map.groupBy([...command.options, ...(meant?.options ?? [])], (option) => option.name);
  // Services and tapes last, as in the help.
  const own = [...options.values()]
    .flatMap(([option]) => (option === undefined || option.group === COMMON_GROUP ? [] : [option]))
    .toSorted((a, b) => Number(a.group !== null) - Number(b.group !== null));
  return [
    `.SS "citeloop ${escaped([name, ...positionals.map(usageOf)].join(' '))}"`,
    `${escaped(describe)}.`,
    ...positionals
      .filter((place) => place.describe !== '')
      .flatMap((place) => ['.TP', `.I ${escaped(place.name)}`, escaped(place.describe)]),
    ...own.flatMap(optionLines),
    ...(examples.length === 0 ? [] : ['.PP', 'Examples:']),
    ...examples.flatMap(({ line, describe: what }) => ['.TP', `.B ${escaped(line)}`, escaped(what)]),
    ...commands.filter((below) => below.name !== name).flatMap(commandLines),
  ];
}

function optionLines(option: OptionOutline): string[] {
  const among = option.choices.length > 0 ? ` [${option.choices.join(', ')}]` : '';
  return ['.TP', `.B ${escaped(spelled(option).trim())}`, escaped(`${option.describe}${among}`)];
}

/** Nothing in a text is taken for a command of the page. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
