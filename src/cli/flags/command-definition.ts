/** A command: its help, completion and usage errors, and the parser that yargs builds, all come from this. */
export interface CommandDefinition<Flags = object> {
  /** In the syntax of yargs: `export <id> [file]`. An array adds `$0`: it runs if no subcommand is named. */
  command: string | readonly string[];
  describe: string;
  positionals?: Readonly<Record<string, PositionalDefinition>>;
  /** Subcommands take these, too. */
  options?: Readonly<Record<string, OptionDefinition>>;
  /** Each is a command line and what it does. */
  examples?: readonly (readonly [line: string, meaning: string])[];
  epilogue?: string;
  commands?: readonly CommandDefinition[];
  /** A number that it returns or resolves to is the exit code. */
  handler?(flags: Flags): unknown;
}

export interface OptionDefinition {
  describe: string;
  /** A string unless given. */
  type?: 'boolean' | 'number';
  /** What the help calls the value. */
  value?: string;
  /** Set if the flag may be given without a value: values that may stand before the words of the command. */
  optionalValue?: RegExp;
  alias?: string;
  choices?: readonly string[];
  array?: boolean;
  default?: string | number | boolean;
  conflicts?: string | readonly string[];
  implies?: string;
  group?: string;
  /** Listed only by `--help all`, and last by Tab. */
  isAdvanced?: boolean;
}

type PositionalDefinition = Pick<OptionDefinition, 'describe' | 'choices'>;

/** A command in its place: with its full name, and with the options of the commands above it. */
export interface CommandNode {
  /** `sessions show`; empty for the program. */
  name: string;
  /** Whether it runs if no command is named below its parent. */
  isDefault: boolean;
  definition: CommandDefinition;
  positionals: readonly PositionalArgument[];
  options: Readonly<Record<string, OptionDefinition>>;
  commands: readonly CommandNode[];
}

export interface PositionalArgument extends PositionalDefinition {
  name: string;
  isRequired: boolean;
  isVariadic: boolean;
}

export function createCommandNode(
  definition: CommandDefinition,
  parent: Pick<CommandNode, 'name' | 'options'> = { name: '', options: {} },
): CommandNode {
  const [spelling = '', ...others] = [definition.command].flat();
  const [word = '', ...places] = spelling.split(' ');
  const name = [parent.name, word === '$0' ? '' : word].filter((part) => part !== '').join(' ');
  const options = { ...parent.options, ...definition.options };
  return {
    name,
    isDefault: word === '$0' || others.includes('$0'),
    definition,
    positionals: places.map((place) => toPositional(place, definition)),
    options,
    commands: (definition.commands ?? []).map((command) => createCommandNode(command, { name, options })),
  };
}

function toPositional(place: string, { positionals = {} }: CommandDefinition): PositionalArgument {
  const name = place.replace(/[<>[\].]/g, '');
  return {
    describe: '',
    ...positionals[name],
    name,
    isRequired: place.startsWith('<'),
    isVariadic: place.includes('..'),
  };
}

/** The command that runs if this one is given without a subcommand. */
export function resolveDefaultCommand(node: CommandNode): CommandNode {
  return node.commands.find(({ isDefault }) => isDefault) ?? node;
}

export function listSubcommands(node: CommandNode): CommandNode[] {
  return node.commands.filter(({ name }) => name !== node.name);
}

export function acceptedOptions(node: CommandNode): Record<string, OptionDefinition> {
  return { ...node.options, ...resolveDefaultCommand(node).options };
}

export function lastWord(name: string): string {
  return name.split(' ').at(-1) ?? '';
}

export function optionTakesValue({ type }: OptionDefinition): boolean {
  return type !== 'boolean';
}

/** A command line split into the command that it names, the words for it, and its flags. */
export interface ParsedCommandLine {
  command: CommandNode;
  words: string[];
  flags: GivenFlag[];
  /** The arguments without the name of the command, for yargs. */
  rest: string[];
}

export interface GivenFlag {
  /** As it was typed: `--top-k` or `-k`. */
  typed: string;
  /** The name of the option; null if there is no such option. */
  name: string | null;
  option: OptionDefinition | undefined;
  /** Undefined if none was given. */
  value: string | undefined;
}

/** Never throws: an unknown command is a word, an unknown flag has no option. */
export function parseCommandLine(program: CommandNode, args: readonly string[]): ParsedCommandLine {
  let command = program;
  const [words, rest, dashes]: [string[], string[], string[]] = [[], [], []];
  const flags: GivenFlag[] = [];
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  for (let at = 0; at < end; at += 1) {
    const word = args[at] ?? '';
    const [, typed = '', joined] = /^(--?[^=\d-][^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (typed === '') {
      const named = listSubcommands(command).find(({ name }) => lastWord(name) === word);
      if (words.length === 0 && named !== undefined) command = named;
      else words.push(word);
      if (words.length > 0) (word === '-' ? dashes : rest).push(word);
      continue;
    }
    const [name = null, option] = findOption(command, typed) ?? [];
    const next = at + 1 < end ? args[at + 1] : undefined;
    const needsWord = words.length === 0 && resolveDefaultCommand(command).positionals.length > 0;
    const hasValue = joined === undefined && option !== undefined && isValueOf(option, next, needsWord);
    if (hasValue) at += 1;
    const value = joined ?? (hasValue ? next : undefined);
    flags.push({ typed, name, option, value });
    // yargs takes a single dash as a value only after an equals sign.
    if (option?.optionalValue !== undefined || value === '-') rest.push(`${typed}=${value ?? ''}`);
    else rest.push(word, ...(hasValue ? [next ?? ''] : []));
  }
  const last = args.slice(end + 1);
  // yargs drops a single dash (stdin) unless it comes after `--`.
  return { command, words: [...words, ...last], flags, rest: [...rest, '--', ...dashes, ...last] };
}

/** After a flag whose value is optional, a word that the command needs is a value only if it is known as one. */
function isValueOf(option: OptionDefinition, word: string | undefined, needsWord: boolean): boolean {
  if (!optionTakesValue(option) || word === undefined || /^--?[^\d-]/.test(word)) return false;
  return !needsWord || (option.optionalValue?.test(word) ?? true);
}

/** The option of a flag such as `--top-k`, `-k` or `--no-stream`. */
function findOption(command: CommandNode, typed: string): [string, OptionDefinition] | undefined {
  const plain = typed.replace(/^--?/, '');
  const options = Object.entries(acceptedOptions(command));
  return [plain, plain.replace(/^no-/, '')]
    .map((wanted) => options.find(([name, { alias }]) => name === wanted || alias === wanted))
    .find((found) => found !== undefined);
}
