import { formatFailedGates, formatMetricValue, joinWords } from '../../evaluation/report/format-metric.ts';
import type { GateResult, ReportData } from '../../evaluation/report/report-data.ts';
import { DataTable, FactList, ReportSection } from './report-components.tsx';

export function GateResults({ gates }: { gates: readonly GateResult[] }) {
  return (
    <ReportSection id="gates" title="Gates">
      <p>{gates.length === 0 ? 'No gates were set' : (formatFailedGates(gates) ?? 'All gates passed')}.</p>
      <ul class="findings">
        {gates.map(({ passed, arm, line }) => (
          <li key={`${arm} ${line}`}>
            <span class={`badge ${passed ? 'good' : 'bad'}`}>{passed ? '✓ passed' : '✗ failed'}</span> {arm}:{' '}
            {line}
          </li>
        ))}
      </ul>
    </ReportSection>
  );
}

/** Everything needed to repeat the run. */
export function RunSettings({ data: { header, arms } }: { data: ReportData }) {
  const { collection } = header;
  const settings = [
    ...new Set(arms.flatMap((arm) => Object.keys({ ...arm.settings, ...arm.otherSettings }))),
  ];
  const facts: [string, string][] = [
    ['Version', `${header.program} ${header.version}`],
    ['Finished', `${header.date.slice(0, 16).replace('T', ' ')} UTC`],
    ['Duration', formatMetricValue(header.durationMs, 'ms')],
    ['Cases', `${header.cases}, from ${header.casesFile}`],
    ['SHA-256 of the cases', header.casesHash],
    ['Repeats', String(header.repeat)],
    ['Concurrency', String(header.concurrency)],
    ['Models', joinWords(header.models)],
    ['Collection', `${collection.name}: ${collection.documents} documents, ${collection.chunks} chunks`],
    ['Embedder', collection.embedder || 'none'],
    ['Random seed', String(header.seed)],
    ['Currency', header.currency ?? 'none: no price file'],
    ['Grading model', header.grader?.model ?? 'none'],
  ];
  return (
    <ReportSection id="settings" title="Settings">
      <FactList class="facts" facts={facts.map(([name, value]) => [name, [value]])} />
      <DataTable
        caption="Settings by arm."
        legend={<span class="key">● differs between arms</span>}
        columns={['Setting', ...arms.map(({ name }) => name)]}
      >
        {settings.map((setting) => (
          <tr key={setting}>
            <th scope="row">{setting}</th>
            {arms.map(({ name, changed, ...arm }) => (
              <td key={name} class={Object.hasOwn(changed, setting) ? 'changed' : ''}>
                {Object.hasOwn(changed, setting) && '● '}
                {String({ ...arm.otherSettings, ...arm.settings }[setting] ?? '–')}
              </td>
            ))}
          </tr>
        ))}
      </DataTable>
    </ReportSection>
  );
}
