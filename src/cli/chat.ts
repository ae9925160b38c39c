import type { Argv, CommandModule } from 'yargs';
import { type AgentFlags, agentOptions } from './chat/agent-flags.ts';
import { withServiceFlags } from './service-flags.ts';
import { withTapeFlags } from './tape-flags.ts';
import type { CommonFlags } from './with-app.ts';

export const chatCommand: CommandModule<CommonFlags, AgentFlags> = {
  command: ['chat', '$0'],
  describe: 'Talk with the documents; /help lists what can be done there',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs as Argv<AgentFlags>), 'provider', 'store', 'rerank')
      .options(agentOptions)
      .example('$0 chat', 'A new conversation')
      .example('$0 chat --continue', 'Go on with the last one')
      .example('$0 chat --policy always --module ros2', 'Search one module before every answer')
      .example('$0 chat < questions.txt', 'One question a line, one answer a block')
      .example('$0 chat --json < questions.txt', 'One answer a line, for programs'),
  handler: async (flags) => {
    const { runChat } = await import('./run-chat.ts');
    await runChat(flags);
  },
};
