import type { CommandModule } from 'yargs';
import { agentOptions } from './chat/agent-flags.ts';
import { withServiceFlags } from './service-flags.ts';
import type { CommonFlags } from './with-app.ts';

export const doctorCommand: CommandModule<CommonFlags, CommonFlags> = {
  command: 'doctor',
  describe: 'Check the installation, the collections and the services',
  builder: (yargs) =>
    withServiceFlags(yargs, 'provider', 'store', 'rerank')
      .options({ model: agentOptions.model, 'base-url': agentOptions['base-url'], api: agentOptions.api })
      .example('$0 doctor', 'Every check, with what to do about each that fails')
      .example('$0 doctor --provider ollama --model qwen3', 'What a model can do, by one tiny call')
      .example('$0 doctor --json', 'For programs'),
  handler: async (flags) => {
    const { runDoctor } = await import('./run-doctor.ts');
    process.exitCode = await runDoctor(flags);
  },
};
