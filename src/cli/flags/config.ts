import type { Argv } from 'yargs';
import type { SettingFlags } from '../commands/config.ts';
import type { CommonFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';

const list = defineCommand<CommonFlags>({
  command: ['list', '$0'],
  describe: 'List what is set, and where each value comes from',
  builder: (yargs) => yargs.example('$0 config', 'What is set, and by whom'),
  handler: async (flags) => (await import('../commands/config.ts')).listSettings(flags),
});

const get = defineCommand<SettingFlags>({
  command: 'get <setting>',
  describe: 'Print the value of a setting',
  builder: (yargs) => named(yargs).example('$0 config get model', 'The model that answers'),
  handler: async (flags) => (await import('../commands/config.ts')).getSetting(flags),
});

const set = defineCommand<SettingFlags>({
  command: 'set <setting> <value>',
  describe: 'Keep a value for all that you do',
  builder: (yargs) =>
    named(yargs)
      .positional('value', { type: 'string', describe: 'The value; an object as JSON' })
      .example('$0 config set model gpt-5-mini', 'The model from now on')
      .example('$0 config set collection handbook', 'The same as citeloop collections use handbook')
      .example(
        `$0 config set prices '{"gpt-5-mini": {"input": 0.25, "output": 2}}'`,
        'What a million tokens cost: each turn then says its price',
      ),
  handler: async (flags) => (await import('../commands/config.ts')).setSetting(flags),
});

const unset = defineCommand<SettingFlags>({
  command: 'unset <setting>',
  describe: 'Forget a value that was kept',
  builder: (yargs) => named(yargs).example('$0 config unset model', 'The default again'),
  handler: async (flags) =>
    (await import('../commands/config.ts')).setSetting({ ...flags, value: undefined }),
});

const path = defineCommand<CommonFlags>({
  command: 'path',
  describe: 'Print where they are kept',
  builder: (yargs) => yargs.example('$0 config path', 'The file, to edit it by hand'),
  handler: async (flags) => (await import('../commands/config.ts')).printSettingsPath(flags),
});

export const configCommand = defineCommand<CommonFlags>({
  command: 'config',
  describe: 'Settings that stay: list, get, set or unset them',
  builder: (yargs) =>
    yargs
      .command(list)
      .command(get)
      .command(set)
      .command(unset)
      .command(path)
      .epilogue(
        'A flag is stronger than the environment, that than ./citeloop.config.json, and that than what is kept here. Keys are read from the environment alone.',
      ),
  handler: () => {},
});

function named(yargs: Argv) {
  return yargs.positional('setting', { type: 'string', describe: 'Its name, such as model or topK' });
}
