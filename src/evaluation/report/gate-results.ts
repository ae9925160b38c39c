import { formatCount } from '../../text/format-count.ts';
import type { GateResult } from './report-data.ts';

/** "1 of 2 gates failed"; null if none failed. */
export function formatFailedGates(gates: readonly GateResult[]): string | null {
  const failed = gates.filter(({ passed }) => !passed);
  return failed.length === 0 ? null : `${failed.length} of ${formatCount(gates.length, 'gate')} failed`;
}
