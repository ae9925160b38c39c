import { stringify } from 'yaml';
import type { EvaluationCase } from './evaluation-case.ts';

/** Cases as a file of this name holds them: YAML, which is easier to correct by hand, or JSONL. */
export function writeCases(cases: readonly EvaluationCase[], file: string): string {
  if (/\.ya?ml$/i.test(file)) return stringify(cases, { lineWidth: 110 });
  return cases.map((item) => `${JSON.stringify(item)}\n`).join('');
}
