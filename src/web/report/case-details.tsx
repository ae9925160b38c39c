import { useState } from 'preact/hooks';
import type { CaseResult, ReportCase, ReportPageData } from '../../evaluation/report/report-data.ts';
import { FactList, NoDataLabel } from './report-components.tsx';
import { findHeadlineMetric } from './report-metrics.ts';
import { RunDetails } from './run-details.tsx';

interface CaseProps {
  data: ReportPageData;
  item: ReportCase;
}

interface CaseDetailsProps extends CaseProps {
  /** Ids of the opened cases; this case adds and removes its own. */
  opened: Set<string>;
}

/** One line that opens to the runs of every arm, which are rendered when it is first opened. */
export function CaseDetails({ data, item, opened }: CaseDetailsProps) {
  const { id, question, tags, history } = item;
  const [isRendered, setRendered] = useState(opened.has(id));
  return (
    <li>
      <details
        class="case"
        open={opened.has(id)}
        onToggle={({ currentTarget }) => {
          if (!currentTarget.open) return void opened.delete(id);
          opened.add(id);
          setRendered(true);
        }}
      >
        <summary>
          <span class="asks" dir="auto">
            {question}
          </span>
          <span class="outcomes">
            {data.arms.map(({ name }) => (
              <OutcomeBadge
                key={name}
                data={data}
                result={item.results[name]}
                arm={data.arms.length === 1 ? null : name}
              />
            ))}
          </span>
          <span class="labels">
            <code>{id}</code>
            {tags.map((tag) => (
              <span key={tag}>{tag}</span>
            ))}
            {history.length > 0 && <span>turn {history.length / 2 + 1}</span>}
          </span>
        </summary>
        <div class="inside">{isRendered && <CaseBody data={data} item={item} />}</div>
      </details>
    </li>
  );
}

function CaseBody({ data, item }: CaseProps) {
  return (
    <>
      {item.history.length > 0 && (
        <>
          <h4>Conversation before</h4>
          <ol class="history">
            {item.history.map(({ role, content }, index) => (
              <li key={index} class={role}>
                <b>{role === 'user' ? 'User' : 'Assistant'}</b>
                <span dir="auto">{content}</span>
              </li>
            ))}
          </ol>
        </>
      )}
      <h4>Expected</h4>
      <Expectations item={item} />
      <div class="arms-of-case">
        {data.arms.map(({ name }) => (
          <ArmRuns key={name} data={data} result={item.results[name]} arm={name} />
        ))}
      </div>
    </>
  );
}

interface ArmResultProps {
  data: ReportPageData;
  result: CaseResult | undefined;
}

/** Labeled with the arm, if it is given, otherwise with the outcome. */
function OutcomeBadge({ data, result, arm }: ArmResultProps & { arm: string | null }) {
  const { kind, symbol, label } = describeOutcome(data, result);
  return (
    <span class={`badge ${kind}`}>
      <span aria-hidden="true">{symbol} </span>
      {arm ?? label}
      {arm !== null && <span class="unseen">: {label}</span>}
    </span>
  );
}

function describeOutcome(data: ReportPageData, result: CaseResult | undefined) {
  const score = result?.metrics[findHeadlineMetric(data)?.id ?? ''] ?? null;
  if (result?.runs.some(({ error }) => error !== null)) return { kind: 'bad', symbol: '!', label: 'error' };
  if (score === null) return { kind: 'plain', symbol: '–', label: 'not gradable' };
  if (score === 1) return { kind: 'good', symbol: '✓', label: 'correct' };
  if (score === 0) return { kind: 'bad', symbol: '✗', label: 'wrong' };
  return { kind: 'bad', symbol: '◐', label: `${score.toFixed(2)} correct` };
}

function Expectations({ item: { expected, answerable, needsRetrieval } }: { item: ReportCase }) {
  const yesOrNo = (value: boolean | null) => (value === null ? [] : [value ? 'yes' : 'no']);
  const all: [string, string[]][] = [
    ['Answer', expected.answers],
    ['Phrases', expected.phrases],
    ['Forbidden phrases', expected.forbidden],
    ['Sources', expected.sources],
    ['Chunks', expected.chunks],
    ['Answerable', yesOrNo(answerable)],
    ['Needs a search', yesOrNo(needsRetrieval)],
  ];
  const rows = all.filter(([, values]) => values.length > 0);
  if (rows.length === 0) return <p class="muted">No expectations.</p>;
  return <FactList class="expected" facts={rows} />;
}

function ArmRuns({ data, result, arm }: ArmResultProps & { arm: string }) {
  const [first, ...repeats] = result?.runs ?? [];
  return (
    <section class="arm" aria-label={arm}>
      <h4>
        {arm} <OutcomeBadge data={data} result={result} arm={null} />
      </h4>
      {first === undefined ? <NoDataLabel /> : <RunDetails run={first} />}
      {repeats.map((run) => (
        <details key={run.repeat} class="repeat">
          <summary>
            Repeat {run.repeat} of {repeats.length + 1}
          </summary>
          <RunDetails run={run} />
        </details>
      ))}
    </section>
  );
}
