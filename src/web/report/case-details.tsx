import { useState } from 'preact/hooks';
import { HEADLINE_METRIC } from '../../evaluation/report/format-metric.ts';
import type { CaseResult, ReportCase, ReportData } from '../../evaluation/report/report-data.ts';
import { FactList, NoDataLabel } from './report-components.tsx';
import { RunDetails } from './run-details.tsx';

interface CaseProps {
  data: ReportData;
  item: ReportCase;
}

/** One line that opens to the runs of every arm, which are rendered when it is first opened. */
export function CaseDetails({ data, item }: CaseProps) {
  const { id, question, tags, history } = item;
  const [isRendered, setRendered] = useState(false);
  return (
    <li>
      <details class="case" onToggle={() => setRendered(true)}>
        <summary>
          <span class="asks" dir="auto">
            {question}
          </span>
          <span class="outcomes">
            {data.arms.map(({ name }) => (
              <OutcomeBadge
                key={name}
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
          <ArmRuns key={name} result={item.results[name]} arm={name} />
        ))}
      </div>
    </>
  );
}

/** Labeled with the arm, if it is given, otherwise with the outcome. */
function OutcomeBadge({ result, arm }: { result: CaseResult | undefined; arm: string | null }) {
  const { kind, symbol, label } = describeOutcome(result);
  return (
    <span class={`badge ${kind}`}>
      <span aria-hidden="true">{symbol} </span>
      {arm ?? label}
      {arm !== null && <span class="unseen">: {label}</span>}
    </span>
  );
}

function describeOutcome(result: CaseResult | undefined) {
  const score = result?.metrics[HEADLINE_METRIC] ?? null;
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

function ArmRuns({ result, arm }: { result: CaseResult | undefined; arm: string }) {
  const [first, ...repeats] = result?.runs ?? [];
  return (
    <section class="arm" aria-label={arm}>
      <h4>
        {arm} <OutcomeBadge result={result} arm={null} />
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
