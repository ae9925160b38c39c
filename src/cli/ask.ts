import type { Argv, CommandModule } from 'yargs';
import { type AgentFlags, agentOptions } from './chat/agent-flags.ts';
import { withServiceFlags } from './service-flags.ts';
import { withTapeFlags } from './tape-flags.ts';
import type { CommonFlags } from './with-app.ts';

export interface AskFlags extends AgentFlags {
  question?: string[] | undefined;
  /** What follows `--`: a question may begin with a dash. */
  '--'?: string[] | undefined;
  requireGrounded?: boolean | undefined;
}

export const askCommand: CommandModule<CommonFlags, AskFlags> = {
  command: 'ask [question..]',
  describe: 'Answer a question from the documents, with citations that were checked',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs as Argv<AskFlags>), 'provider', 'store', 'rerank')
      .positional('question', {
        type: 'string',
        array: true,
        describe: 'The question; from stdin when it is left out or -',
      })
      .options(agentOptions)
      .options({
        'require-grounded': {
          type: 'boolean',
          describe: 'Exit with 6 when no citation bears the answer out',
        },
      })
      .example('$0 ask "What is ROS 2?"', 'From the documents, with sources')
      .example('$0 ask "How do I use it?" --continue', 'A follow-up in the last session')
      .example('$0 ask "frame rate" --module isaac --policy always', 'One module, searched in any case')
      .example('echo "What is a node?" | $0 ask --json --require-grounded', 'For programs')
      .example('$0 ask "What is a node?" --record node.tape.json', 'Kept, to be replayed without a key')
      .example('$0 ask "What is a node?" --json --stream', 'Every event as a line of JSON'),
  handler: async (flags) => {
    const { runAsk } = await import('./run-ask.ts');
    await runAsk({ ...flags, question: [...(flags.question ?? []), ...(flags['--'] ?? [])] });
  },
};
