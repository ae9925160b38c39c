import { AppError } from '../../domain/app-error.ts';
import { type Filter, parseFilter } from '../../domain/filter.ts';
import type { CommonFlags } from '../with-app.ts';
import type { AgentFlags } from './agent-flags.ts';

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
