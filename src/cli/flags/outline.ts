import type { Argv, CommandModule, Options, PositionalOptions } from 'yargs';

/** What a command says of itself, read once for its help, the manual, completion and the errors about its use. */
export interface CommandOutline {
  /** `sessions show`; empty for the program itself. */
  name: string;
  describe: string;
  positionals: PositionalOutline[];
  /** Those of the commands above it are among them. */
  options: OptionOutline[];
  examples: { line: string; describe: string }[];
  epilogue: string | null;
  commands: CommandOutline[];
  /** Whether it is meant where no command is named. */
  isDefault: boolean;
}

export interface OptionOutline {
  name: string;
  aliases: string[];
  describe: string;
  type: 'boolean' | 'number' | 'string';
  choices: string[];
  isMany: boolean;
  /** The heading that it stands under; null for the command's own. */
  group: string | null;
}

interface PositionalOutline {
  name: string;
  describe: string;
  choices: string[];
  isRequired: boolean;
  isMany: boolean;
}

type AnyCommand = Pick<CommandModule, 'command' | 'describe' | 'builder'>;

/** The program as a whole, with the options that every command has. */
export function outlineProgram(
  commands: readonly AnyCommand[],
  common: Readonly<Record<string, Options>>,
  describe: string,
): CommandOutline {
  const shared = Object.entries(common).map(([name, option]) => outlineOption(name, option, COMMON_GROUP));
  return {
    name: '',
    describe,
    positionals: [],
    options: shared,
    examples: [],
    epilogue: null,
    commands: commands.map((command) => outlineCommand(command, '', shared)),
    isDefault: false,
  };
}

export const COMMON_GROUP = 'Everywhere:';

function outlineCommand(
  module: AnyCommand,
  above: string,
  inherited: readonly OptionOutline[],
): CommandOutline {
  const spellings = [module.command ?? ''].flat();
  const [words = ''] = spellings;
  const [first = '', ...places] = words.split(' ');
  const name = [above, first === '$0' ? '' : first].filter((part) => part !== '').join(' ');
  const recorded = record(module);
  const own = [...recorded.options].map(([option, given]) =>
    outlineOption(option, given, recorded.groups.get(option) ?? given.group ?? null),
  );
  const names = new Set(own.map((option) => option.name));
  const options = [...own, ...inherited.filter((option) => !names.has(option.name))];
  return {
    name,
    describe: typeof module.describe === 'string' ? module.describe : '',
    positionals: places.map((place) => {
      const plain = place.replace(/^[<[]|\.*[\]>]$/g, '').replace(/\.+$/, '');
      const given = recorded.positionals.get(plain);
      return {
        name: plain,
        describe: given?.describe ?? '',
        choices: (given?.choices ?? []).map(String),
        isRequired: place.startsWith('<'),
        isMany: place.includes('..'),
      };
    }),
    options,
    examples: recorded.examples,
    epilogue: recorded.epilogue,
    commands: recorded.commands.map((command) => outlineCommand(command, name, options)),
    isDefault: spellings.some((spelling) => spelling.split(' ')[0] === '$0'),
  };
}

function outlineOption(name: string, option: Options, group: string | null): OptionOutline {
  return {
    name,
    aliases: [option.alias ?? []].flat(),
    describe: option.describe ?? '',
    type: option.type === 'boolean' || option.type === 'number' ? option.type : 'string',
    choices: (option.choices ?? []).map(String),
    isMany: option.array === true,
    group,
  };
}

/** What a builder asks of yargs, noted instead of done. */
function record({ builder }: AnyCommand) {
  const noted = {
    options: new Map<string, Options>(),
    positionals: new Map<string, PositionalOptions>(),
    groups: new Map<string, string>(),
    examples: [] as { line: string; describe: string }[],
    epilogue: null as string | null,
    commands: [] as AnyCommand[],
  };
  const recorder: Record<string, (...given: never[]) => unknown> = {
    option: (name: string, option: Options) => noted.options.set(name, option),
    options: (options: Record<string, Options>) => {
      for (const [name, option] of Object.entries(options)) noted.options.set(name, option);
    },
    positional: (name: string, option: PositionalOptions) => noted.positionals.set(name, option),
    group: (names: string | string[], title: string) => {
      for (const name of [names].flat()) noted.groups.set(name, title);
    },
    example: (line: string, describe: string) =>
      noted.examples.push({ line: line.replaceAll('$0', 'citeloop'), describe }),
    epilogue: (text: string) => {
      noted.epilogue = text;
    },
    command: (module: AnyCommand) => noted.commands.push(module),
  };
  // Whatever else a builder asks for changes nothing of the outline. Only what is used of yargs is there.
  const stand: unknown = new Proxy(recorder, {
    get: (known, method) =>
      typeof method === 'string' && method in known ? call(known[method]) : () => stand,
  });
  const call =
    (work: ((...given: never[]) => unknown) | undefined) =>
    (...given: never[]) => {
      work?.(...given);
      return stand;
    };
  if (typeof builder === 'function') builder(stand as Argv);
  return noted;
}

/** What was typed, as far as it can be told apart: the command that it reaches, its words, and its flags. */
export interface Typed {
  command: CommandOutline;
  words: string[];
  flags: { typed: string; name: string; option: OptionOutline | undefined; value: string | undefined }[];
}

export function readTyped(program: CommandOutline, args: readonly string[]): Typed {
  let command = program;
  const words: string[] = [];
  const flags: Typed['flags'] = [];
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  for (let at = 0; at < end; at += 1) {
    const word = args[at] ?? '';
    const flag = /^(--?)([^=\d][^=]*)(?:=(.*))?$/s.exec(word);
    if (flag === null) {
      const below = words.length > 0 ? undefined : commandNamed(command, word);
      if (below === undefined) words.push(word);
      else command = below;
      continue;
    }
    const [, , name = '', joined] = flag;
    const option = findOption(command, name) ?? findOption(command, name.replace(/^no-/, ''));
    const takesValue = option !== undefined && option.type !== 'boolean' && joined === undefined;
    const next = args[at + 1];
    const hasValue = takesValue && at + 1 < end && next !== undefined && !/^--?[^\d-]/.test(next);
    if (hasValue) at += 1;
    flags.push({
      typed: word.split('=')[0] ?? word,
      name,
      option,
      value: joined ?? (hasValue ? next : undefined),
    });
  }
  return { command, words: [...words, ...args.slice(end + 1)], flags };
}

export function commandNamed(command: CommandOutline, word: string): CommandOutline | undefined {
  return command.commands.find(({ name }) => lastWord(name) === word && name !== command.name);
}

export function lastWord(name: string): string {
  return name.split(' ').at(-1) ?? '';
}

/** Also among the options of what is meant where no command below is named. */
export function findOption(command: CommandOutline, name: string): OptionOutline | undefined {
  return optionsOf(command).find((option) => option.name === name || option.aliases.includes(name));
}

export function optionsOf(command: CommandOutline): OptionOutline[] {
  const meant = command.commands.find(({ isDefault }) => isDefault);
  return meant === undefined ? command.options : [...command.options, ...meant.options];
}
