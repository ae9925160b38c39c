import { readFileSync } from 'node:fs';
import { parseFlag } from '../../config/parse-value.ts';
import { agentConfigSchema } from '../../domain/agent-config.ts';
import { type Filter, parseFilter } from '../../domain/query.ts';
import { AppError, messageOf } from '../../faults/app-error.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';

/** The flags by the names of the settings. Throws `invalid_input`. */
export function toSettings<Flags extends Pick<AgentFlags, 'threshold' | 'systemPrompt'>>({
  threshold,
  ...flags
}: Flags) {
  const { scoreThreshold } = agentConfigSchema.def.innerType.shape;
  return {
    ...flags,
    scoreThreshold: parseFlag('--threshold', threshold, scoreThreshold),
    systemPrompt: flags.systemPrompt === undefined ? undefined : readPrompt(flags.systemPrompt),
  };
}

/** `@file` names a file with the prompt. */
function readPrompt(prompt: string): string {
  if (!prompt.startsWith('@')) return prompt;
  const path = prompt.slice(1);
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw new AppError('invalid_input', `Cannot read ${path} (flag --system-prompt): ${messageOf(error)}.`, {
      hint: 'Give a text file after the @, or the prompt itself.',
      cause: error,
    });
  }
}

/** Throws `invalid_input` if --json and --format contradict each other. */
export function toOutputOptions({ json = false, format }: Pick<AgentFlags, 'json' | 'format'>) {
  if (json && format !== undefined && format !== 'json') {
    throw new AppError('invalid_input', `--json and --format ${format} cannot be used together.`, {
      hint: 'Omit one of them.',
    });
  }
  return { json: json || format === 'json', format: format === 'json' ? undefined : format };
}

/** The filter of --filter and --module. Throws `invalid_input`. */
export function toFilter({ filter = [], module }: Pick<AgentFlags, 'filter' | 'module'>): Filter {
  return parseFilter(module === undefined ? filter : [...filter, `module=${module}`]);
}
