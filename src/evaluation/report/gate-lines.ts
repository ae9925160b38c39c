import { counted } from '../../text/phrasing.ts';
import type { GateResult } from './report-data.ts';

/** How many gates failed of those that were asked for, however many metrics each of them looks at; null if none did. */
export function gatesFailed(results: readonly GateResult[]): string | null {
  const asked = Map.groupBy(results, ({ gate }) => gate);
  const failed = [...asked.values()].filter((ofGate) => ofGate.some(({ passed }) => !passed));
  return failed.length === 0 ? null : `${failed.length} of ${counted(asked.size, 'gate')} failed`;
}

/** What is told of the gates, a line each: of one that looks at many metrics those that fail, and how many hold. */
export function gateLines(results: readonly GateResult[]): Pick<GateResult, 'arm' | 'passed' | 'line'>[] {
  return [...Map.groupBy(results, ({ gate, arm }) => `${arm}\n${gate}`).values()].flatMap((ofGate) => {
    const held = ofGate.filter(({ passed }) => passed);
    const failed = ofGate.filter(({ passed }) => !passed);
    const [first] = held;
    if (first === undefined || ofGate.length === 1) return ofGate;
    const line = `${first.gate}: ${counted(held.length, 'metric holds', 'metrics hold')}`;
    return [...failed, { arm: first.arm, passed: true, line }];
  });
}
