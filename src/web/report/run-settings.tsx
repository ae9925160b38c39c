import { formatMetricValue, joinWords } from '../../evaluation/report/format-metric.ts';
import { formatFailedGates } from '../../evaluation/report/gate-results.ts';
import type { GateResult, ReportPageData } from '../../evaluation/report/report-data.ts';
import { DataTable, FactList, ReportSection } from './report-components.tsx';

export function GateResults({ gates }: { gates: readonly GateResult[] }) {
  if (gates.length === 0) {
    return (
      <ReportSection id="gates" title="Gates">
        <p class="muted">No gates were set.</p>
      </ReportSection>
    );
  }
  return (
    <ReportSection id="gates" title="Gates">
      <p>{formatFailedGates(gates) ?? 'All gates passed'}.</p>
      <DataTable
        caption="Gates and measured values"
        isCaptionHidden={true}
        columns={['Result', 'Arm', 'Required and measured']}
      >
        {gates.map(({ passed, arm, line }) => (
          <tr key={`${arm} ${line}`}>
            <td>
              <span class={`badge ${passed ? 'good' : 'bad'}`}>{passed ? '✓ passed' : '✗ failed'}</span>
            </td>
            <td>{arm}</td>
            <td>{line}</td>
          </tr>
        ))}
      </DataTable>
    </ReportSection>
  );
}

const SETTING_LABELS = {
  model: 'Model',
  policy: 'Search policy',
  mode: 'Search mode',
  topK: 'Passages per search',
  scoreThreshold: 'Score threshold',
  rerank: 'Reranking',
  temperature: 'Temperature',
  maxSteps: 'Maximum steps',
} as const;

/** Everything needed to repeat the run. */
export function RunSettings({ data: { header, arms } }: { data: ReportPageData }) {
  const { collection } = header;
  const facts: [string, string][] = [
    ['Version', `${header.program} ${header.version}`],
    ['Finished', `${header.date.slice(0, 16).replace('T', ' ')} UTC`],
    ['Duration', formatDuration(header.durationMs)],
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
        {Object.entries(SETTING_LABELS).map(([key, label]) => (
          <tr key={key}>
            <th scope="row">{label}</th>
            {arms.map(({ name, settings, changed }) => (
              <td key={name} class={Object.hasOwn(changed, key) ? 'changed' : ''}>
                {Object.hasOwn(changed, key) && '● '}
                {settings === null ? '–' : formatSetting(settings[key as keyof typeof SETTING_LABELS])}
              </td>
            ))}
          </tr>
        ))}
      </DataTable>
    </ReportSection>
  );
}

function formatSetting(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}

function formatDuration(ms: number): string {
  if (ms < 60_000) return formatMetricValue(ms, 'ms');
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
