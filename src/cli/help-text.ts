import { COMMON_GROUP, type CommandOutline, lastWord, type OptionOutline } from './flags/outline.ts';
import { wrap } from './terminal/wrapping.ts';

const LAST = ['Services', 'Tapes'];
/** Longer examples have their meaning below them. */
const EXAMPLE = 44;

/** What the whole program can do, on one screen. */
export function programHelp(program: CommandOutline, width: number): string {
  const rows = program.commands.map(({ name, describe }) => [name, describe]);
  return [
    ...wrap(program.describe, width),
    '',
    ...aligned(rows, width),
    '',
    ...wrap('citeloop <command> --help says more of each. Without a command it is a chat.', width),
    '',
  ].join('\n');
}

/** First what a command does and its own options; what it shares with others comes last. */
export function commandHelp(command: CommandOutline, width: number): string {
  const { name, describe, positionals, options, examples, epilogue, commands } = command;
  const meant = commands.find(({ isDefault }) => isDefault);
  const all = [...options, ...(meant?.options ?? [])].filter(
    (option, index, list) => list.findIndex((other) => other.name === option.name) === index,
  );
  const groups = Map.groupBy(all, ({ group }) => group);
  const titles = [...groups.keys()].filter((title) => title !== null && title !== COMMON_GROUP);
  const inOrder = titles.toSorted((a, b) => rankOf(a) - rankOf(b));
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', title, ...lines];
  const places = [...positionals, ...(meant?.positionals ?? [])];
  return [
    ['citeloop', name, ...places.map(usageOf), ...(commands.length > 0 ? ['[command]'] : [])].join(' '),
    '',
    ...wrap(`${describe}.`.replace(/\.\.$/, '.'), width),
    ...section(
      'Commands:',
      aligned(
        commands
          .filter((below) => below.name !== name)
          .map((below) => [
            [lastWord(below.name), ...below.positionals.map(usageOf)].join(' '),
            below.describe,
          ]),
        width,
      ),
    ),
    ...section(
      'Arguments:',
      aligned(
        places.map((place) => [usageOf(place), place.describe]),
        width,
      ),
    ),
    ...section('Options:', optionLines(groups.get(null) ?? [], width)),
    ...section(
      'Examples:',
      [...examples, ...commands.flatMap(examplesAbove)].flatMap(({ line, describe: what }) =>
        line.length <= EXAMPLE && EXAMPLE + what.length + 4 <= width
          ? [`  ${line.padEnd(EXAMPLE)}  ${what}`]
          : [`  ${line}`, ...wrap(what, width - 6).map((part) => `      ${part}`)],
      ),
    ),
    ...section(COMMON_GROUP, optionLines([...(groups.get(COMMON_GROUP) ?? []), HELP, VERSION], width)),
    ...inOrder.flatMap((title) => section(title ?? '', optionLines(groups.get(title) ?? [], width))),
    ...(epilogue === null ? [] : ['', ...wrap(epilogue, width)]),
    '',
  ].join('\n');
}

/** What the help of a command shows of one below it: all of the one that is meant where none is named. */
function examplesAbove({ examples, isDefault }: CommandOutline): CommandOutline['examples'] {
  return isDefault ? examples : examples.slice(0, 1);
}

const HELP: OptionOutline = {
  name: 'help',
  aliases: ['h'],
  describe: 'This text',
  type: 'boolean',
  choices: [],
  isMany: false,
  group: COMMON_GROUP,
};

const VERSION: OptionOutline = { ...HELP, name: 'version', aliases: ['v'], describe: 'Which version it is' };

function rankOf(title: string | null): number {
  return LAST.findIndex((last) => title?.startsWith(last));
}

export function usageOf({ name, isRequired, isMany }: CommandOutline['positionals'][number]): string {
  const dots = isMany ? '..' : '';
  return isRequired ? `<${name}${dots}>` : `[${name}${dots}]`;
}

function optionLines(options: readonly OptionOutline[], width: number): string[] {
  return aligned(
    options.map((option) => [spelled(option), described(option)]),
    width,
  );
}

/** `-k, --top-k <number>`; the short one first, where there is one. */
export function spelled({ name, aliases, type, choices }: OptionOutline): string {
  const short = aliases.filter((alias) => alias.length === 1).map((alias) => `-${alias}, `);
  const value =
    type === 'boolean' ? '' : choices.length > 0 ? ' <name>' : type === 'number' ? ' <n>' : ' <text>';
  const long = [name, ...aliases.filter((alias) => alias.length > 1)].map((each) => `--${each}`);
  return `${short.join('') || '    '}${long.join(', ')}${value}`;
}

function described({ describe, choices, isMany }: OptionOutline): string {
  const among = choices.length > 0 ? ` [${choices.join(', ')}]` : '';
  return `${describe}${among}${isMany && !/again|repeated/.test(describe) ? '; may be given again' : ''}`;
}

/** Two columns; on a narrow screen the second stands below the first. */
export function aligned(rows: readonly (readonly string[])[], width: number): string[] {
  const first = Math.min(34, Math.max(0, ...rows.map(([left = '']) => left.length)));
  const room = width - first - 4;
  return rows.flatMap(([left = '', right = '']) => {
    if (room < 24) return [`  ${left}`, ...wrap(right, width - 6).map((line) => `      ${line}`)];
    const lines = wrap(right, room);
    if (left.length > first) return [`  ${left}`, ...lines.map((line) => ' '.repeat(first + 4) + line)];
    const [start = '', ...rest] = lines;
    return [
      `  ${left.padEnd(first)}  ${start}`.trimEnd(),
      ...rest.map((line) => ' '.repeat(first + 4) + line),
    ];
  });
}
