import { parseFlag } from '../../config/parse-value.ts';
import { agentConfigSchema } from '../../domain/agent-config.ts';
import { type Filter, parseFilter } from '../../domain/query.ts';
import { AppError } from '../../faults/app-error.ts';
import { readInputFile } from '../../files/read-input-file.ts';
import type { AgentFlags } from '../flags/agent-flags.ts';

/** The flags by the names of the settings; `@file` names a file with the system prompt. Throws `invalid_input`. */
export function toSettings<Flags extends Pick<AgentFlags, 'threshold' | 'systemPrompt'>>({
  threshold,
  systemPrompt,
  ...flags
}: Flags) {
  const { scoreThreshold } = agentConfigSchema.def.innerType.shape;
  return {
    ...flags,
    scoreThreshold: parseFlag('--threshold', threshold, scoreThreshold),
    systemPrompt: systemPrompt?.startsWith('@')
      ? readInputFile(systemPrompt.slice(1), 'Prompt file')
      : systemPrompt,
  };
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
