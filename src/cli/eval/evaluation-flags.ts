import type { Options } from 'yargs';
import { agentOptions } from '../chat/agent-flags.ts';
import type { TapeFlags } from '../tape-flags.ts';
import type { CommonFlags } from '../with-app.ts';

/** Flags of the commands that run cases. */
export interface EvaluationFlags extends Omit<CommonFlags, 'json'>, TapeFlags {
  cases?: string | undefined;
  policy?: string | undefined;
  model?: string | undefined;
  baseUrl?: string | undefined;
  api?: string | undefined;
  toolName?: string | undefined;
  tools?: string[] | undefined;
  threshold?: number | undefined;
  repeat?: number | undefined;
  concurrency?: number | undefined;
  seed?: number | undefined;
  tag?: string[] | undefined;
  metrics?: string | undefined;
  judge?: number | undefined;
  prices?: string | undefined;
  gate?: string[] | undefined;
  /** Where to write the data; empty is stdout. */
  json?: string | undefined;
  html?: string | undefined;
  junit?: string | undefined;
  fresh?: boolean | undefined;
}

const { policy, model, api, tools, threshold } = agentOptions;

export const evaluationOptions = {
  policy,
  model,
  'base-url': agentOptions['base-url'],
  api,
  'tool-name': agentOptions['tool-name'],
  tools,
  threshold,
  repeat: { type: 'number', describe: 'Ask every question so many times (1)', requiresArg: true },
  concurrency: { type: 'number', describe: 'Questions under way at a time (2)', requiresArg: true },
  seed: { type: 'number', describe: 'Of the samples that intervals are made of (1)', requiresArg: true },
  tag: { type: 'string', array: true, nargs: 1, describe: 'Only cases with this tag; again for another' },
  metrics: { type: 'string', describe: 'Only these, by id, with commas between them', requiresArg: true },
  judge: { type: 'number', describe: 'Have the model judge every answer so many times', requiresArg: true },
  prices: { type: 'string', describe: 'A JSON file of prices for a million tokens', requiresArg: true },
  gate: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Exit with 8 unless this holds; again for another',
  },
  json: { type: 'string', describe: 'Write all data to this file, or to stdout if none is named' },
  html: { type: 'string', describe: 'Write a page to look at', requiresArg: true },
  junit: { type: 'string', describe: 'Write JUnit XML for build servers', requiresArg: true },
  fresh: { type: 'boolean', describe: 'Do not go on with an evaluation that was interrupted' },
} as const satisfies Record<string, Options>;
