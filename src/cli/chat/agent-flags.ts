import type { Options } from 'yargs';
import { apiSchema, policySchema, toolNameSchema } from '../../domain/agent-config.ts';
import { AppError } from '../../domain/app-error.ts';
import { type Filter, parseFilter } from '../../domain/filter.ts';
import { SEARCH_MODES, type SearchMode } from '../../domain/search-mode.ts';
import type { CommonFlags } from '../with-app.ts';

/** Flags of every command that runs the agent. */
export interface AgentFlags extends CommonFlags {
  policy?: string | undefined;
  model?: string | undefined;
  baseUrl?: string | undefined;
  api?: string | undefined;
  toolName?: string | undefined;
  tools?: string[] | undefined;
  topK?: number | undefined;
  threshold?: number | undefined;
  module?: string | undefined;
  filter?: string[] | undefined;
  mode?: SearchMode | undefined;
  stream?: boolean | undefined;
  session?: string | undefined;
  continue?: boolean | undefined;
  user?: string | undefined;
}

export const agentOptions = {
  policy: {
    choices: policySchema.options,
    describe: 'Who decides to search: the model, always, first step forced, never (tool)',
    requiresArg: true,
  },
  model: { type: 'string', describe: 'The model (offline, which needs no key)', requiresArg: true },
  'base-url': { type: 'string', describe: 'An OpenAI-compatible server', requiresArg: true },
  api: { choices: apiSchema.options, describe: 'What the server speaks', requiresArg: true },
  'tool-name': {
    choices: toolNameSchema.options,
    describe: 'Short results, or whole passages (search_docs)',
    requiresArg: true,
  },
  tools: {
    choices: ['read_source'],
    array: true,
    nargs: 1,
    describe: 'A further tool for the model: read_source reads around a hit',
  },
  'top-k': { alias: 'k', type: 'number', describe: 'Passages a search, 1 to 20 (5)', requiresArg: true },
  threshold: { type: 'number', describe: 'Least similarity, 0 to 1 (0.35)', requiresArg: true },
  module: { type: 'string', describe: 'Search only documents of this module', requiresArg: true },
  filter: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Search only documents with key=value; the same key again accepts either',
  },
  mode: { choices: SEARCH_MODES, describe: 'Search by words and meaning, or one of them (hybrid)' },
  stream: { type: 'boolean', describe: 'Print the answer as it is made; --no-stream: when complete' },
  session: { type: 'string', alias: 'resume', describe: 'Go on with this session', requiresArg: true },
  continue: { type: 'boolean', describe: 'Go on with the last session', conflicts: 'session' },
  user: { type: 'string', describe: 'Whose session it is', requiresArg: true },
} as const satisfies Record<string, Options>;

/** The flags by the names of the settings that they give. Throws `invalid_input`. */
export function settingsOf({ threshold, ...flags }: AgentFlags): CommonFlags {
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 1)) {
    throw new AppError('invalid_input', '--threshold must be a number from 0 to 1.');
  }
  const settings = { ...flags, scoreThreshold: threshold };
  return settings;
}

/** What `--filter` and `--module` ask for. Throws `invalid_input`. */
export function filterOf({ filter = [], module }: Pick<AgentFlags, 'filter' | 'module'>): Filter {
  return parseFilter(module === undefined ? filter : [...filter, `module=${module}`]);
}
