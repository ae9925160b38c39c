import type { NumberRange, NumberSetting, SearchMode } from '../../domain/setting-choices.ts';
import {
  CHECKS,
  DEFAULT_TOOL_NAME,
  MODEL_APIS,
  MODEL_PROVIDERS,
  NUMBER_SETTINGS,
  OFFLINE_DEFAULTS,
  ONNX_PREFIX,
  RETRIEVAL_POLICIES,
  SEARCH_MODES,
  TOOL_NAMES,
} from '../../domain/setting-choices.ts';
import type { OptionDefinition } from './command-definition.ts';
import type { CommonFlags, FlagValues, Switches, TapeFlags } from './common-flags.ts';

export interface AgentFlags
  extends CommonFlags,
    TapeFlags,
    FlagValues<'policy' | 'model' | 'baseUrl' | 'api' | 'toolName' | 'systemPrompt', string>,
    FlagValues<'module' | 'session' | 'user', string>,
    FlagValues<'filter', string[]>,
    FlagValues<Exclude<NumberSetting, 'scoreThreshold'> | 'threshold', number>,
    Switches<'stream' | 'continue' | 'readSource' | 'rewrite' | 'requireCitations'> {
  mode?: SearchMode | undefined;
  format?: 'md' | 'plain' | 'json' | undefined;
}

/** Describes the bounds and the default of a setting, which the schema of the settings checks. */
function numberOption(name: NumberSetting, subject: string) {
  const { min, max, default: usual }: NumberRange = NUMBER_SETTINGS[name];
  const bounds = max === undefined ? '' : `, ${min} to ${max}`;
  const offline = name === 'topK' ? `; offline ${OFFLINE_DEFAULTS.topK}` : '';
  const describe = `${subject}${bounds} (default ${usual ?? 'by embedder'}${offline})`;
  return { type: 'number', describe } as const satisfies OptionDefinition;
}

function limitOption(name: NumberSetting, subject: string) {
  return { ...numberOption(name, subject), group: 'Limits', isAdvanced: true } as const;
}

export const answeringOptions = {
  policy: { choices: RETRIEVAL_POLICIES, describe: 'When to search (default tool: the model decides)' },
  model: { describe: 'Model to use (default offline, which needs no key)' },
  provider: { choices: MODEL_PROVIDERS, describe: 'Model service with a known address' },
  'base-url': { value: 'url', describe: 'OpenAI-compatible server' },
  api: { isAdvanced: true, choices: MODEL_APIS, describe: 'API of the server' },
  'top-k': { alias: 'k', ...numberOption('topK', 'Passages per search') },
  threshold: {
    isAdvanced: true,
    alias: 'score-threshold',
    ...numberOption('scoreThreshold', 'Minimum score'),
  },
  mode: {
    isAdvanced: true,
    choices: SEARCH_MODES,
    describe: 'Search by meaning, by words, or both (default hybrid)',
  },
  check: {
    isAdvanced: true,
    value: 'name',
    describe: `Citation check: ${CHECKS.join(', ')} or ${ONNX_PREFIX}<directory> (default words)`,
  },
  'system-prompt': { isAdvanced: true, value: 'text', describe: 'System prompt, or @file to read one' },
  temperature: { isAdvanced: true, ...numberOption('temperature', 'Sampling temperature') },
  'tool-name': {
    isAdvanced: true,
    choices: TOOL_NAMES,
    describe: `Search tool: excerpts or whole passages (default ${DEFAULT_TOOL_NAME}; offline ${OFFLINE_DEFAULTS.toolName})`,
  },
  'read-source': {
    isAdvanced: true,
    type: 'boolean',
    describe: 'Let the model read whole passages (default true)',
  },
  rewrite: { isAdvanced: true, type: 'boolean', describe: 'Let the model write the query (policy always)' },
  'require-citations': {
    isAdvanced: true,
    type: 'boolean',
    describe: 'Ask again if an answer cites nothing',
  },
  'max-tokens': limitOption('maxTokens', 'Tokens per answer'),
  'context-window': limitOption('contextWindow', 'Context window of the model in tokens'),
  'max-steps': limitOption('maxSteps', 'Model calls per question'),
  'max-history': limitOption('maxHistory', 'Earlier messages to send'),
  'max-turns': limitOption('maxTurns', 'Questions per session'),
  'max-turn-seconds': limitOption('maxTurnSeconds', 'Seconds per question'),
  'max-event-bytes': limitOption('maxEventBytes', 'Bytes per streamed event'),
  'max-answer-characters': limitOption('maxAnswerCharacters', 'Characters per answer'),
} as const satisfies Record<string, OptionDefinition>;

export const filterOptions = {
  module: { describe: 'Search only documents of this module' },
  filter: { value: 'key=value', array: true, describe: 'Search by module, chapter, title or url' },
} as const satisfies Record<string, OptionDefinition>;

export const agentOptions = {
  ...answeringOptions,
  ...filterOptions,
  stream: {
    isAdvanced: true,
    type: 'boolean',
    describe: 'Print the answer while it is generated (--no-stream: at the end)',
  },
  format: { choices: ['md', 'plain', 'json'], describe: 'Output format (default: by terminal)' },
  session: { value: 'id', alias: 'resume', describe: 'Continue this session' },
  continue: { type: 'boolean', describe: 'Continue the last session', conflicts: 'session' },
  user: { isAdvanced: true, describe: 'Owner of the session' },
} as const satisfies Record<string, OptionDefinition>;
