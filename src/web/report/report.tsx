import { useMemo, useState } from 'preact/hooks';
import { joined } from '../../evaluation/report/format-value.ts';
import { gatesFailed } from '../../evaluation/report/gate-lines.ts';
import type { PageData } from '../../evaluation/report/page-data.ts';
import { counted } from '../../text/phrasing.ts';
import { isDark, useTheme } from '../shared/theme.ts';
import { Arms } from './arms.tsx';
import { type Criteria, caseFilter } from './case-filter.ts';
import { allCases, Cases } from './cases.tsx';
import { Cost } from './cost.tsx';
import { Differences, type ShowCases } from './differences.tsx';
import { Gates, Making } from './making.tsx';
import { Searching, type ShowTurns } from './searching.tsx';

/** The page: what was found, the numbers behind it, and every case. */
export function Report({ data }: { data: PageData }) {
  const [criteria, setCriteria] = useState(() => firstCriteria(data));

  function show(changed: Partial<Criteria>): void {
    setCriteria({ ...allCases(data), ...changed });
    const title = document.getElementById('cases-title');
    title?.scrollIntoView();
    title?.focus({ preventScroll: true });
  }
  const showCases: ShowCases = (better, than, metric) => show({ differ: `${better}>${than}`, metric });
  const showTurns: ShowTurns = (arm, kind) => show({ outcome: `search-${kind}`, arm });

  // What does not depend on the criteria is drawn once, however fast somebody types.
  const numbers = useMemo(
    () => (
      <>
        <Verdict data={data} />
        <Arms data={data} />
        <Cost data={data} />
        <Searching data={data} onShow={showTurns} />
        <Differences data={data} onShow={showCases} />
      </>
    ),
    [data],
  );
  const rest = useMemo(
    () => (
      <>
        <Gates data={data} />
        <Making data={data} />
      </>
    ),
    [data],
  );
  const { version, date } = data.header;
  return (
    <>
      <a class="skip" href="#verdict">
        Skip to the verdict
      </a>
      <Top isComparison={data.arms.length > 1} isDecided={data.searchWorth.length > 0} />
      <main>
        {numbers}
        <Cases data={data} criteria={criteria} onCriteria={setCriteria} />
        {rest}
      </main>
      <footer>
        <p>
          Made by citeloop {version} on {date.slice(0, 10)}. This page is one file and asks nothing of any
          network.
        </p>
      </footer>
    </>
  );
}

/** A comparison begins with the cases on which the arms differ, if there are any. */
function firstCriteria(data: PageData) {
  const differing = { ...allCases(data), differ: 'differ' };
  return data.arms.length > 1 && caseFilter(data)(differing).length > 0 ? differing : allCases(data);
}

function Top({ isComparison, isDecided }: { isComparison: boolean; isDecided: boolean }) {
  const [theme, setTheme] = useTheme();
  const other = isDark(theme) ? 'light' : 'dark';
  return (
    <header class="top">
      <span class="brand">citeloop</span>
      <nav aria-label="Sections">
        <a href="#arms">{isComparison ? 'Arms' : 'Metrics'}</a>
        {isComparison && <a href="#cost">Cost and quality</a>}
        {isDecided && <a href="#searching">Searching</a>}
        {isComparison && <a href="#differences">Differences</a>}
        <a href="#cases">Cases</a>
        <a href="#gates">Gates</a>
        <a href="#making">How it was made</a>
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

/** What was found, before all else, in sentences. */
function Verdict({ data: { kind, header, finding, verdict, notes, gates } }: { data: PageData }) {
  const [lead, ...others] = verdict;
  const failure = gatesFailed(gates);
  return (
    <section id="verdict" aria-labelledby="verdict-title" class="verdict">
      <p class="kicker">
        {kind === 'comparison' ? 'Comparison' : 'Evaluation'} · {counted(header.cases, 'case')} of{' '}
        {fileName(header.casesFile)} · {joined(header.models)}
      </p>
      <h1 id="verdict-title">{finding}</h1>
      <p class="lead">{lead}</p>
      {others.length > 0 && (
        <ul class="findings">
          {others.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {failure !== null && (
        <p class="callout failed">
          <strong>✗ {failure}.</strong> <a href="#gates">Which</a>
        </p>
      )}
      {notes.length > 0 && (
        <aside class="callout" aria-label="Before you trust the numbers">
          <strong>Before you trust the numbers</strong>
          <ul>
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </aside>
      )}
    </section>
  );
}

function fileName(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path;
}
