import { SEARCH_MODES } from '../../domain/choices.ts';
import type { AskFlags } from '../commands/ask.ts';
import type { SearchFlags } from '../commands/search.ts';
import { type AgentFlags, agentOptions } from './agent-flags.ts';
import { withServiceFlags, withTapeFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';

export const askCommand = defineCommand<AskFlags>({
  command: 'ask [question..]',
  describe: 'Answer a question from the documents, with checked citations',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs), 'provider', 'store', 'rerank')
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
      .example('cat build.log | $0 ask "Why does it fail?"', 'With a text of yours beside the documents')
      .example('$0 ask "What is a node?" --record node.tape.json', 'Kept, to be replayed without a key')
      .example('$0 ask "What is a node?" --json --stream', 'Every event as a line of JSON'),
  handler: async (flags) => {
    const { runAsk } = await import('../commands/ask.ts');
    await runAsk({ ...flags, question: [...(flags.question ?? []), ...(flags['--'] ?? [])] });
  },
});

export const chatCommand = defineCommand<AgentFlags>({
  command: ['chat', '$0'],
  describe: 'Talk with the documents; /help lists what can be done there',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs), 'provider', 'store', 'rerank')
      .options(agentOptions)
      .example('$0 chat', 'A new conversation')
      .example('$0 chat --continue', 'Go on with the last one')
      .example('$0 chat --policy always --module ros2', 'Search one module before every answer')
      .example('$0 chat < questions.txt', 'One question a line, one answer a block')
      .example('$0 chat --json < questions.txt', 'One answer a line, for programs'),
  handler: async (flags) => (await import('../commands/chat.ts')).runChat(flags),
});

export const searchCommand = defineCommand<SearchFlags>({
  command: 'search [query..]',
  describe: 'Find the passages that answer a question',
  builder: (yargs) =>
    withServiceFlags(withTapeFlags(yargs), 'store', 'rerank')
      .positional('query', {
        type: 'string',
        array: true,
        describe: 'A question, some words or an identifier',
      })
      .options({
        'top-k': {
          alias: 'k',
          type: 'number',
          describe: 'How many passages, 1 to 100 (5)',
          requiresArg: true,
        },
        threshold: agentOptions.threshold,
        module: { type: 'string', describe: 'Only documents of this module', requiresArg: true },
        filter: {
          type: 'string',
          array: true,
          nargs: 1,
          describe: 'Only documents with key=value; the same key again accepts either',
        },
        mode: {
          choices: SEARCH_MODES,
          default: 'hybrid' as const,
          describe: 'By words and meaning, or one of them',
        },
        explain: { type: 'boolean', describe: 'Show how each passage was found' },
      })
      .example('$0 search "How do robots localise themselves?"', 'By meaning and by words')
      .example('$0 search rclpy.spin_once --mode lexical', 'An identifier, without loading the model')
      .example('$0 search "frame rate" --module isaac --top-k 3 --explain', 'In one module, with reasons')
      .example('$0 search "frame rate" --json', 'For programs'),
  handler: async (flags) => {
    const { runSearch } = await import('../commands/search.ts');
    await runSearch({ ...flags, query: [...(flags.query ?? []), ...(flags['--'] ?? [])] });
  },
});
