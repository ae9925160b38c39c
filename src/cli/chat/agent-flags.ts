import type { Options } from 'yargs';
import { APIS, POLICIES, SEARCH_MODES, TOOL_NAMES } from '../../domain/choices.ts';
import type { SearchMode } from '../../domain/search-mode.ts';
import type { TapeFlags } from '../tape-flags.ts';
import type { CommonFlags } from '../with-app.ts';

/** Flags of every command that runs the agent. */
export interface AgentFlags extends CommonFlags, TapeFlags {
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
  threshold: {
    type: 'number',
    describe: 'Least similarity, 0 to 1 (by the embedder; 0.35)',
    requiresArg: true,
  },
  mode: { choices: SEARCH_MODES, describe: 'Search by words and meaning, or one of them (hybrid)' },
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
