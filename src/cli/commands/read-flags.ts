import { readFileSync } from 'node:fs';
import { readFlag } from '../../config/read-value.ts';
import { agentConfigSchema } from '../../domain/agent-config.ts';
import { type Filter, parseFilter } from '../../domain/query.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';

/** The flags under the names of the settings that they give. Throws `invalid_input`. */
export function asSettings<Flags extends Pick<AgentFlags, 'threshold' | 'systemPrompt'>>({
  threshold,
  ...flags
}: Flags) {
  const { scoreThreshold } = agentConfigSchema.def.innerType.shape;
  return {
    ...flags,
    scoreThreshold: readFlag('--threshold', threshold, scoreThreshold),
    systemPrompt: flags.systemPrompt === undefined ? undefined : promptOf(flags.systemPrompt),
  };
}

/** The text of `--system-prompt`, or of the file that it names after an `@`. */
function promptOf(given: string): string {
  if (!given.startsWith('@')) return given;
  const path = given.slice(1);
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new AppError(
      'invalid_input',
      `${path} (flag --system-prompt) cannot be read: ${messageOf(error)}.`,
      {
        hint: 'Name a text file after the @, or give the text itself.',
        cause: error,
      },
    );
  }
}

/** How an answer is to be printed. Throws `invalid_input` where the flags contradict each other. */
export function outputOf({ json = false, format }: Pick<AgentFlags, 'json' | 'format'>) {
  if (json && format !== undefined && format !== 'json') {
    throw new AppError('invalid_input', `--json and --format ${format} contradict each other.`, {
      hint: 'Leave one of them out.',
    });
  }
  return { json: json || format === 'json', format: format === 'json' ? undefined : format };
}

/** What `--filter` and `--module` ask for. Throws `invalid_input`. */
export function filterOf({ filter = [], module }: Pick<AgentFlags, 'filter' | 'module'>): Filter {
  return parseFilter(module === undefined ? filter : [...filter, `module=${module}`]);
}
