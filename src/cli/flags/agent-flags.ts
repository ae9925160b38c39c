import type { Options } from 'yargs';
import type { NumberRange, NumberSetting, SearchMode } from '../../domain/choices.ts';
import { APIS, NUMBERS, OFFLINE_DEFAULTS, POLICIES, SEARCH_MODES, TOOL_NAMES } from '../../domain/choices.ts';
import type { CommonFlags, TapeFlags } from './common-flags.ts';

/** The numbers that a flag of their own name gives. */
type NumberFlags = { [Name in Exclude<NumberSetting, 'scoreThreshold'>]?: number | undefined };

/** Flags of every command that runs the agent. */
export interface AgentFlags extends CommonFlags, TapeFlags, NumberFlags {
  policy?: string | undefined;
  model?: string | undefined;
  baseUrl?: string | undefined;
  api?: string | undefined;
  toolName?: string | undefined;
  systemPrompt?: string | undefined;
  tools?: string[] | undefined;
  threshold?: number | undefined;
  module?: string | undefined;
  filter?: string[] | undefined;
  mode?: SearchMode | undefined;
  stream?: boolean | undefined;
  format?: 'md' | 'plain' | 'json' | undefined;
  session?: string | undefined;
  continue?: boolean | undefined;
  user?: string | undefined;
}

/** Says what is allowed and what holds without it, as the schema of the settings has it. */
function numberFlag(name: NumberSetting, what: string) {
  const { least, most, usual }: NumberRange = NUMBERS[name];
  const bounds = most === undefined ? `at least ${least}` : `${least} to ${most}`;
  const offline = name === 'topK' ? `; offline ${OFFLINE_DEFAULTS.topK}` : '';
  const describe = `${what}, ${bounds} (${usual ?? 'by the embedder'}${offline})`;
  return { type: 'number', describe, requiresArg: true } as const;
}

/** What decides how a question is answered, whoever asks it. */
export const answeringOptions = {
  policy: {
    choices: POLICIES,
    describe: 'Who decides to search: the model, always, first step forced, never (tool)',
    requiresArg: true,
  },
  model: { type: 'string', describe: 'The model (offline, which needs no key)', requiresArg: true },
  'base-url': { type: 'string', describe: 'An OpenAI-compatible server', requiresArg: true },
  api: { choices: APIS, describe: 'What the server speaks', requiresArg: true },
  'tool-name': {
    choices: TOOL_NAMES,
    describe: `Short results, or whole passages (search_docs; offline ${OFFLINE_DEFAULTS.toolName})`,
    requiresArg: true,
  },
  tools: {
    choices: ['read_source'],
    array: true,
    nargs: 1,
    describe: 'A further tool for the model: read_source reads around a hit',
  },
  'top-k': { alias: 'k', ...numberFlag('topK', 'Passages a search') },
  threshold: { alias: 'score-threshold', ...numberFlag('scoreThreshold', 'Least similarity') },
  mode: { choices: SEARCH_MODES, describe: 'Search by words and meaning, or one of them (hybrid)' },
  'system-prompt': {
    type: 'string',
    describe: 'What the model is told beforehand; @file: what that file says',
    requiresArg: true,
  },
  temperature: numberFlag('temperature', 'How freely the model words its answer'),
  'max-tokens': numberFlag('maxTokens', 'Longest answer in tokens'),
  'context-window': numberFlag('contextWindow', 'Tokens that the model holds; known of hosted ones'),
  'max-steps': numberFlag('maxSteps', 'Calls of the model for one question'),
  'max-history': numberFlag('maxHistory', 'Earlier messages that are sent along'),
  'max-turns': numberFlag('maxTurns', 'Questions that a session may have'),
  'max-turn-seconds': numberFlag('maxTurnSeconds', 'How long one question may take'),
  'max-event-bytes': numberFlag('maxEventBytes', 'Longest single event of a stream'),
  'max-answer-characters': numberFlag('maxAnswerCharacters', 'Longest answer in characters'),
} as const satisfies Record<string, Options>;

export const agentOptions = {
  ...answeringOptions,
  module: { type: 'string', describe: 'Search only documents of this module', requiresArg: true },
  filter: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Search only documents with key=value; the same key again accepts either',
  },
  stream: { type: 'boolean', describe: 'Print the answer as it is made; --no-stream: when complete' },
  format: {
    choices: ['md', 'plain', 'json'],
    describe: 'Markdown as it is, words alone, or --json; else as the terminal can show it',
    requiresArg: true,
  },
  session: { type: 'string', alias: 'resume', describe: 'Go on with this session', requiresArg: true },
  continue: {
    type: 'boolean',
    describe: 'Go on with the last session on this collection',
    conflicts: 'session',
  },
  'trace-file': {
    type: 'string',
    describe: "Add the SDK's traces to this file; they go nowhere else",
    requiresArg: true,
  },
  user: { type: 'string', describe: 'Whose session it is', requiresArg: true },
} as const satisfies Record<string, Options>;
