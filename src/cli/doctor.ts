import type { CommandModule } from 'yargs';
import type { CommonFlags } from './with-app.ts';

export const doctorCommand: CommandModule<CommonFlags, CommonFlags> = {
  command: 'doctor',
  describe: 'Check the installation, the collections and the services',
  builder: (yargs) =>
    yargs
      .example('$0 doctor', 'Every check, with what to do about each that fails')
      .example('$0 doctor --json', 'For programs'),
  handler: async (flags) => {
    const { runDoctor } = await import('./run-doctor.ts');
    process.exitCode = await runDoctor(flags);
  },
};
