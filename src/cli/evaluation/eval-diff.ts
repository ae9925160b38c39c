import { loadConfig } from '../../config/load-config.ts';
import { diffRuns } from '../../evaluation/report/diff-runs.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { renderDiff } from './render-diff.ts';
import { findReport } from './run-archive.ts';

export interface EvalDiffFlags extends Omit<CommonFlags, 'json'> {
  /** Given at all: as JSON. */
  json?: string | undefined;
  before?: string | undefined;
  after?: string | undefined;
  /** The arm of both, or of each. */
  arm?: string[] | undefined;
}

/** Shows what flipped between two evaluations of any day. */
export async function runEvalDiff(flags: EvalDiffFlags): Promise<void> {
  const { before = 'last~1', after = 'last', arm = [], json, config, ...settings } = flags;
  const { home } = loadConfig({ flags: settings, configPath: config });
  const [former, latter] = [await findReport(home, before), await findReport(home, after)];
  const diff = diffRuns({ ...former, arm: arm[0] }, { ...latter, arm: arm[1] ?? arm[0] });
  const terminal = createTerminal(process.stdout);
  terminal.write(json !== undefined ? `${JSON.stringify(diff)}\n` : renderDiff(diff, terminal));
}
