import type { MeasureFlags } from '../commands/models.ts';
import type { CommonFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';

const list = defineCommand<CommonFlags>({
  command: ['list', '$0'],
  describe: 'List the models, what they need, and how fast they are here',
  handler: async (flags) => (await import('../commands/models.ts')).listModels(flags),
});

const measure = defineCommand<MeasureFlags>({
  command: 'measure <gguf>',
  describe: 'Find out how fast a model is on this machine, and keep it',
  builder: (yargs) =>
    yargs.positional('gguf', {
      type: 'string',
      describe: 'Its name as it is listed, or the path of a GGUF file',
    }),
  handler: async (flags) => (await import('../commands/models.ts')).measureModel(flags),
});

export const modelsCommand = defineCommand<CommonFlags>({
  command: 'models',
  describe: 'List or measure models in GGUF files, which run in the program',
  builder: (yargs) =>
    yargs
      .command(list)
      .command(measure)
      .example('$0 models', 'Which there are, and which fit into memory')
      .example('$0 models measure qwen3-4b', 'How many tokens a second')
      .example('$0 ask "What is new?" --model qwen3-4b', 'Be answered by one of them'),
  handler: () => {},
});
