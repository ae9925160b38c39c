import type { Argv, CommandModule } from 'yargs';
import type { CommonFlags } from './with-app.ts';

export interface ServeModelFlags extends CommonFlags {
  port?: number | undefined;
  name?: string | undefined;
}

export const DEFAULT_MODEL_PORT = 8089;

export const serveModelCommand: CommandModule<CommonFlags, ServeModelFlags> = {
  command: 'serve-model',
  describe: 'Serve the offline model over the OpenAI API, on this machine alone',
  builder: (yargs) =>
    (yargs as Argv<ServeModelFlags>)
      .options({
        port: {
          type: 'number',
          describe: `The port to listen on; 0 takes a free one (${DEFAULT_MODEL_PORT})`,
          requiresArg: true,
        },
        name: {
          type: 'string',
          describe: 'What requests call the model (offline-served)',
          requiresArg: true,
        },
      })
      .example('$0 serve-model', 'Then, elsewhere:')
      .example(
        `$0 ask "What is ROS 2?" --model offline-served --base-url http://127.0.0.1:${DEFAULT_MODEL_PORT}/v1`,
        'The same answer, over the wire',
      ),
  handler: async (flags) => {
    const { runServeModel } = await import('./run-serve-model.ts');
    await runServeModel(flags);
  },
};
