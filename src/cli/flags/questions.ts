import { SEARCH_MODES } from '../../domain/setting-choices.ts';
import type { AskFlags } from '../commands/ask.ts';
import type { SearchFlags } from '../commands/search.ts';
import { type AgentFlags, agentOptions, filterOptions } from './agent-flags.ts';
import type { CommandDefinition } from './command-definition.ts';
import { serviceOptions, tapeOptions } from './common-flags.ts';

export const askCommand: CommandDefinition<AskFlags> = {
  command: 'ask [question..]',
  describe: 'Answer a question from your documents',
  positionals: { question: { describe: 'The question; read from stdin if omitted or -' } },
  options: {
    ...agentOptions,
    'require-grounded': { type: 'boolean', describe: 'Exit with code 6 if the answer is not grounded' },
    ...serviceOptions('store', 'rerank'),
    ...tapeOptions,
  },
  examples: [
    ['citeloop ask "What is ROS 2?"', 'Answer with sources'],
    ['citeloop ask "How do I use it?" --continue', 'Ask a follow-up question'],
    ['citeloop ask "frame rate" --module isaac', 'Search one module'],
    ['cat build.log | citeloop ask "Why does it fail?"', 'Add a text to the question'],
    ['echo "What is a node?" | citeloop ask --json', 'Read the question from stdin, print JSON'],
  ],
  handler: async (flags) => (await import('../commands/ask.ts')).runAsk(flags),
};

export const chatCommand: CommandDefinition<AgentFlags> = {
  command: ['chat', '$0'],
  describe: 'Chat with your documents',
  options: { ...agentOptions, ...serviceOptions('store', 'rerank'), ...tapeOptions },
  examples: [
    ['citeloop chat', 'Start a conversation; /help lists its commands'],
    ['citeloop chat --continue', 'Continue the last conversation'],
    ['citeloop chat --policy always --module ros2', 'Search one module before every answer'],
    ['citeloop chat < questions.txt', 'Answer one question per line'],
    ['citeloop chat --json < questions.txt', 'Print one JSON answer per line'],
  ],
  handler: async (flags) => (await import('../commands/chat.ts')).runChat(flags),
};

export const searchCommand: CommandDefinition<SearchFlags> = {
  command: 'search [query..]',
  describe: 'Find passages in your documents',
  positionals: { query: { describe: 'A question, keywords or an identifier' } },
  options: {
    'top-k': { alias: 'k', type: 'number', describe: 'Number of passages, 1 to 100 (default 5)' },
    threshold: agentOptions.threshold,
    ...filterOptions,
    mode: {
      choices: SEARCH_MODES,
      default: 'hybrid',
      describe: 'Search by meaning, by words, or both (default hybrid)',
    },
    explain: { type: 'boolean', describe: 'Show the ranks and scores of each passage' },
    ...serviceOptions('store', 'rerank'),
    ...tapeOptions,
  },
  examples: [
    ['citeloop search "How do robots localise themselves?"', 'Search by meaning and words'],
    ['citeloop search rclpy.spin_once --mode lexical', 'Search for an identifier'],
    ['citeloop search "frame rate" --module isaac --explain', 'Search one module, show scores'],
    ['citeloop search "frame rate" --json', 'Print JSON'],
  ],
  handler: async (flags) => (await import('../commands/search.ts')).runSearch(flags),
};
