import type { MeasureFlags } from '../commands/models.ts';
import type { CommonFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';

const list = defineCommand<CommonFlags>({
  command: ['list', '$0'],
  describe: 'List the models, what they need, and how fast they are here',
  builder: (yargs) => yargs.example('$0 models', 'Which there are, and which fit into memory'),
  handler: async (flags) => (await import('../commands/models.ts')).listModels(flags),
});

const measure = defineCommand<MeasureFlags>({
  command: 'measure <gguf>',
  describe: 'Find out how fast a model is on this machine, and keep it',
  builder: (yargs) =>
    yargs
      .positional('gguf', {
        type: 'string',
        describe: 'Its name as it is listed, or the path of a GGUF file',
      })
      .example('$0 models measure qwen3-4b', 'How many tokens a second'),
  handler: async (flags) => (await import('../commands/models.ts')).measureModel(flags),
});

export const modelsCommand = defineCommand<CommonFlags>({
  command: 'models',
  describe: 'Models that run in the program: list or measure them',
  builder: (yargs) =>
    yargs.command(list).command(measure).epilogue('--model qwen3-4b of ask and chat has one of them answer.'),
  handler: () => {},
});
