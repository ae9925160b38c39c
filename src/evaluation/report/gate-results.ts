import { formatCount } from '../../text/format-count.ts';
import type { GateResult } from './report-data.ts';

/** "1 of 2 gates failed", counting a gate over several metrics once; null if none failed. */
export function formatFailedGates(results: readonly GateResult[]): string | null {
  const gates = [...Map.groupBy(results, ({ gate }) => gate).values()];
  const failed = gates.filter((ofGate) => ofGate.some(({ passed }) => !passed));
  return failed.length === 0 ? null : `${failed.length} of ${formatCount(gates.length, 'gate')} failed`;
}

/** One line per gate; of a gate over several metrics those that failed, and how many passed. */
export function summarizeGates(results: readonly GateResult[]): Omit<GateResult, 'gate'>[] {
  return [...Map.groupBy(results, ({ gate, arm }) => `${arm}\n${gate}`).values()].flatMap((ofGate) => {
    const [first, ...others] = ofGate.filter(({ passed }) => passed);
    if (first === undefined || ofGate.length === 1) return ofGate;
    const line = `${first.gate}: ${formatCount(others.length + 1, 'metric')} passed`;
    return [...ofGate.filter(({ passed }) => !passed), { arm: first.arm, passed: true, line }];
  });
}
