import type { Argv, CommandModule } from 'yargs';
import { type AgentFlags, agentOptions } from './chat/agent-flags.ts';
import { withServiceFlags } from './service-flags.ts';
import { redactOption, replayOptions, type TapeFlags } from './tape-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface ReplayFlags
  extends CommonFlags,
    Pick<TapeFlags, 'onMiss' | 'timing' | 'redact'>,
    Pick<AgentFlags, 'policy' | 'model' | 'baseUrl' | 'api' | 'toolName' | 'topK' | 'threshold'> {
  tape?: string[] | undefined;
}

const {
  policy,
  model,
  'base-url': baseUrl,
  api,
  'tool-name': toolName,
  'top-k': topK,
  threshold,
} = agentOptions;

export const replayCommand: CommandModule<CommonFlags, ReplayFlags> = {
  command: 'replay <tape..>',
  describe: 'Run again what tapes recorded, and compare',
  builder: (yargs) =>
    withServiceFlags(yargs as Argv<ReplayFlags>, 'provider', 'store', 'rerank')
      .positional('tape', { type: 'string', array: true, describe: 'Tapes, as --record made them' })
      .options({ ...replayOptions, ...redactOption })
      .options({ policy, model, 'base-url': baseUrl, api, 'tool-name': toolName, 'top-k': topK, threshold })
      .example('$0 replay tapes/*.tape.json', 'Exit with 7 if any of them comes to something else now')
      .example('$0 replay a.tape.json --on-miss record', 'Renew what changed, from the live service')
      .example('$0 replay a.tape.json --policy always', 'The same questions under another policy')
      .epilogue('With another setting the run forks: what is still the same is taken from the tape.'),
  handler: async (flags) => {
    const { runReplay } = await import('./run-replay.ts');
    process.exitCode = await runReplay(flags);
  },
};
