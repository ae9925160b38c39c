import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';

interface CommandDefinition<Flags> {
  command: string | readonly string[];
  describe: string;
  builder?(yargs: Argv): unknown;
  handler(flags: ArgumentsCamelCase<Flags>): void | Promise<void>;
}

/**
 * A command whose flags are of the type that its work declares. yargs infers a type of its own from each option, which
 * no interface equals: this is the one place where the two are taken for the same.
 */
export function defineCommand<Flags>(definition: CommandDefinition<Flags>): CommandModule<object, Flags> {
  return definition as CommandModule<object, Flags>;
}
