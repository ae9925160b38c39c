import { formatFailedGates, joinWords } from '../../evaluation/report/format-metric.ts';
import { formatFinding } from '../../evaluation/report/format-verdict.ts';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { formatCount } from '../../text/format-count.ts';
import { isDarkTheme, useTheme } from '../shared/theme.ts';
import { CaseList } from './case-list.tsx';
import { DifferenceTables } from './difference-tables.tsx';
import { OtherMetrics, PrimaryMetrics } from './metric-tables.tsx';
import { SentenceList } from './report-components.tsx';
import { GateResults, RunSettings } from './run-settings.tsx';

/** The verdict, the numbers behind it, and every case. */
export function ReportPage({ data }: { data: ReportData }) {
  const { version, date } = data.header;
  return (
    <>
      <a class="skip" href="#verdict">
        Skip to the verdict
      </a>
      <TopBar isComparison={data.arms.length > 1} />
      <main>
        <Verdict data={data} />
        <PrimaryMetrics data={data} />
        <CaseList data={data} />
        <DifferenceTables data={data} />
        <OtherMetrics data={data} />
        <GateResults gates={data.gates} />
        <RunSettings data={data} />
      </main>
      <footer>
        <p>
          Created by citeloop {version} on {date.slice(0, 10)}. This file is self-contained and makes no
          network requests.
        </p>
      </footer>
    </>
  );
}

function TopBar({ isComparison }: { isComparison: boolean }) {
  const [theme, setTheme] = useTheme();
  const other = isDarkTheme(theme) ? 'light' : 'dark';
  return (
    <header class="top">
      <span class="brand">citeloop</span>
      <nav aria-label="Sections">
        <a href="#metrics">Metrics</a>
        <a href="#cases">Cases</a>
        {isComparison && <a href="#differences">Differences</a>}
        <a href="#other-metrics">Other metrics</a>
        <a href="#gates">Gates</a>
        <a href="#settings">Settings</a>
      </nav>
      <button
        type="button"
        id="theme"
        aria-label={`Switch to the ${other} theme`}
        onClick={() => setTheme(other)}
      >
        {other === 'dark' ? 'Dark' : 'Light'}
      </button>
    </header>
  );
}

function Verdict({ data }: { data: ReportData }) {
  const { kind, header, verdict, notes, gates } = data;
  const finding = formatFinding(data);
  const [first = '', ...others] = verdict;
  // The first sentence may repeat the finding in the title.
  const rest = /^[.:]/.test(first.slice(finding.length)) && first.startsWith(finding);
  const lead = rest
    ? first
        .slice(finding.length + 1)
        .trim()
        .replace(/^./u, (letter) => letter.toUpperCase())
    : first;
  const failure = formatFailedGates(gates);
  return (
    <section id="verdict" aria-labelledby="verdict-title" class="verdict">
      <p class="kicker">
        {kind === 'comparison' ? 'Comparison' : 'Evaluation'} · {formatCount(header.cases, 'case')} from{' '}
        {fileName(header.casesFile)} · {joinWords(header.models)}
      </p>
      <h1 id="verdict-title">{finding}</h1>
      {lead !== '' && <p class="lead">{lead}</p>}
      <SentenceList sentences={others} />
      {failure !== null && (
        <p class="callout failed">
          <strong>✗ {failure}.</strong> <a href="#gates">Show gates</a>
        </p>
      )}
      {notes.length > 0 && (
        <aside class="callout" aria-label="Limits of these numbers">
          <strong>Limits of these numbers</strong>
          <SentenceList sentences={notes} />
        </aside>
      )}
    </section>
  );
}

function fileName(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path;
}
