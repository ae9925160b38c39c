import {
  acceptedOptions,
  type CommandNode,
  lastWord,
  listSubcommands,
  type OptionDefinition,
  optionTakesValue,
  type PositionalArgument,
  resolveDefaultCommand,
} from './flags/command-definition.ts';
import { GLOBAL_GROUP } from './flags/common-flags.ts';
import { wrapLine } from './terminal/wrap-text.ts';

const LAST_GROUPS = [GLOBAL_GROUP, 'Limits', 'Services', 'Tapes'];
const MAX_LABEL_WIDTH = 34;
const MAX_EXAMPLE_WIDTH = 44;
const MIN_TEXT_WIDTH = 24;

/** The help of the program; fits on a terminal of 80x24. */
export function formatProgramHelp(program: CommandNode, width: number): string {
  return lines([
    ...wrapLine(program.definition.describe, width),
    'Usage: citeloop [command] [options]    (without a command: chat)',
    ...columnSection(
      'Commands',
      listSubcommands(program).map(({ name, definition }) => [name, definition.describe]),
      width,
    ),
    'Run "citeloop <command> --help" for the options and examples of a command.',
  ]);
}

/** The help of a command: its common options, or all of them. */
export function formatCommandHelp(node: CommandNode, width: number, showAll = false): string {
  const { definition, name } = node;
  const positionals = [
    ...node.positionals,
    ...(node === resolveDefaultCommand(node) ? [] : resolveDefaultCommand(node).positionals),
  ];
  const subcommands = listSubcommands(node);
  const accepted = Object.entries(acceptedOptions(node));
  const shown = accepted.filter(([, { isAdvanced }]) => showAll || !isAdvanced);
  const groups = Map.groupBy(shown, ([, { group }]) => group ?? 'Options');
  const hidden = accepted.length - shown.length;
  const options = (title: string) => {
    const rows = (groups.get(title) ?? []).map(([flag, option]) => [
      formatOption(flag, option),
      describeArgument(option),
    ]);
    return columnSection(title, rows, width);
  };
  const usage = (words: readonly string[]) => ['citeloop', name, ...words, '[options]'].join(' ');
  const isOwnUse = node !== resolveDefaultCommand(node) || subcommands.length === 0;
  const usages = [
    ...(isOwnUse ? [usage(positionals.map(formatPositional))] : []),
    ...(subcommands.length > 0 ? [usage(['<command>'])] : []),
  ];
  const firstGroups = [...groups.keys()].filter(
    (title) => title !== 'Options' && !LAST_GROUPS.includes(title),
  );
  return lines([
    ...wrapLine(definition.describe, width),
    '',
    `Usage: ${usages.join('\n       ')}`,
    ...columnSection(
      'Commands',
      subcommands.map((command) => [
        [lastWord(command.name), ...command.positionals.map(formatPositional)].join(' '),
        command.definition.describe,
      ]),
      width,
    ),
    ...columnSection(
      'Arguments',
      positionals.map((positional) => [formatPositional(positional), describeArgument(positional)]),
      width,
    ),
    ...options('Options'),
    ...firstGroups.flatMap(options),
    ...section(
      'Examples',
      examplesOf(node).flatMap(([line, meaning]) => exampleLines(line, meaning, width)),
    ),
    ...LAST_GROUPS.flatMap(options),
    ...(hidden === 0 ? [] : ['', `More options (${hidden}): citeloop ${name} --help all`]),
    ...(definition.epilogue === undefined ? [] : ['', ...wrapLine(definition.epilogue, width)]),
  ]);
}

function lines(parts: readonly string[]): string {
  return `${parts.join('\n')}\n`;
}

function section(title: string, body: readonly string[]): string[] {
  return body.length === 0 ? [] : ['', `${title}:`, ...body];
}

function columnSection(title: string, rows: readonly (readonly string[])[], width: number): string[] {
  return section(title, alignColumns(rows, width));
}

/** All examples of the default subcommand, and the first of each other one. */
function examplesOf({ definition, commands }: CommandNode) {
  const below = commands.flatMap(({ isDefault, definition: { examples = [] } }) =>
    isDefault ? examples : examples.slice(0, 1),
  );
  return [...(definition.examples ?? []), ...below];
}

function exampleLines(line: string, meaning: string, width: number): string[] {
  return line.length <= MAX_EXAMPLE_WIDTH && MAX_EXAMPLE_WIDTH + meaning.length + 4 <= width
    ? [`  ${line.padEnd(MAX_EXAMPLE_WIDTH)}  ${meaning}`]
    : [`  ${line}`, ...wrapLine(meaning, width - 6).map((part) => `      ${part}`)];
}

export function formatPositional({ name, isRequired, isVariadic }: PositionalArgument): string {
  const text = `${name}${isVariadic ? '..' : ''}`;
  return isRequired ? `<${text}>` : `[${text}]`;
}

/** `-k, --top-k <n>` */
function formatOption(name: string, option: OptionDefinition): string {
  const { alias = '', value = option.type === 'number' ? 'n' : 'name', optionalValue } = option;
  const short = alias.length === 1 ? `-${alias}, ` : '    ';
  const long = alias.length > 1 ? `--${name}, --${alias}` : `--${name}`;
  return `${short}${long}${optionTakesValue(option) ? (optionalValue ? `[=${value}]` : ` <${value}>`) : ''}`;
}

function describeArgument({ describe, choices = [], array }: OptionDefinition): string {
  const among = choices.length > 0 ? ` [${choices.join(', ')}]` : '';
  return `${describe}${among}${array ? ' (repeatable)' : ''}`;
}

/** Two columns; on a narrow screen the second goes below the first. */
export function alignColumns(rows: readonly (readonly string[])[], width: number): string[] {
  const labelWidth = Math.min(MAX_LABEL_WIDTH, Math.max(0, ...rows.map(([label = '']) => label.length)));
  const isNarrow = width - labelWidth - 4 < MIN_TEXT_WIDTH;
  const indent = ' '.repeat(isNarrow ? 6 : labelWidth + 4);
  return rows.flatMap(([label = '', text = '']) => {
    const [first = '', ...rest] = wrapLine(text, width - indent.length);
    const below = rest.map((line) => indent + line);
    return isNarrow || label.length > labelWidth
      ? [`  ${label}`, ...(first === '' ? [] : [indent + first]), ...below]
      : [`  ${label.padEnd(labelWidth)}  ${first}`.trimEnd(), ...below];
  });
}
