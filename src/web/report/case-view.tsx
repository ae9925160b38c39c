import { useState } from 'preact/hooks';
import { formatValue } from '../../evaluation/report/format-value.ts';
import type { PageCase, PageData, PageResult } from '../../evaluation/report/page-data.ts';
import { byArm, Scrollable } from './parts.tsx';
import { RunView } from './run-view.tsx';

interface CaseViewProps {
  data: PageData;
  place: number;
  /** The places of the cases that are open. */
  open: Set<number>;
}

/** A case as one line that opens to what every arm made of it; what is inside is drawn when it is first opened. */
export function CaseView({ data, place, open }: CaseViewProps) {
  const [isDrawn, setDrawn] = useState(open.has(place));
  const item = data.cases[place] as PageCase;
  return (
    <li>
      <details
        class="case"
        open={open.has(place)}
        onToggle={({ currentTarget }) => {
          if (!currentTarget.open) return void open.delete(place);
          open.add(place);
          setDrawn(true);
        }}
      >
        <summary>
          <span class="asks" dir="auto">
            {item.question}
          </span>
          <span class="outcomes">
            {item.results.map((result, arm) => (
              <OutcomeBadge key={data.arms[arm]?.name} data={data} result={result} arm={arm} />
            ))}
          </span>
          <span class="labels">
            <code>{item.id}</code>
            {item.tags.map((tag) => (
              <span key={tag}>{tag}</span>
            ))}
            {item.history.length > 0 && <span>turn {item.history.length / 2 + 1}</span>}
          </span>
        </summary>
        <div class="inside">{isDrawn && <CaseInside data={data} item={item} />}</div>
      </details>
    </li>
  );
}

function CaseInside({ data, item }: { data: PageData; item: PageCase }) {
  return (
    <>
      {item.history.length > 0 && <History data={data} item={item} />}
      <h4>Expected</h4>
      <Expected item={item} />
      <div class="arms-of-case">
        {item.results.map((result, arm) => (
          <ArmOfCase key={data.arms[arm]?.name} data={data} result={result} arm={arm} />
        ))}
      </div>
      <details class="aside">
        <summary>Metrics of this case</summary>
        <CaseMetrics data={data} item={item} />
      </details>
    </>
  );
}

interface Outcome {
  kind: 'good' | 'bad' | 'plain';
  sign: string;
  name: string;
}

function outcomeOf({ headline }: PageData, { values, runs }: PageResult): Outcome {
  const value = headline === null ? null : (values[headline] ?? null);
  if (runs.some(({ error }) => error !== undefined)) return { kind: 'bad', sign: '!', name: 'error' };
  if (value === null) return { kind: 'plain', sign: '–', name: 'not judged' };
  if (value === 1) return { kind: 'good', sign: '✓', name: 'right' };
  if (value === 0) return { kind: 'bad', sign: '✗', name: 'wrong' };
  return { kind: 'bad', sign: '◐', name: `${value.toFixed(2)} right` };
}

interface OfArmProps {
  data: PageData;
  result: PageResult;
  /** The arm's place. */
  arm: number;
}

/** Among several arms the badge names its arm. */
function OutcomeBadge({ data, result, arm }: OfArmProps) {
  const { kind, sign, name } = outcomeOf(data, result);
  return (
    <span class={`badge ${kind}`}>
      <span aria-hidden="true">{sign} </span>
      {data.arms.length === 1 ? (
        name
      ) : (
        <>
          {data.arms[arm]?.name}
          <span class="unseen">: {name}</span>
        </>
      )}
    </span>
  );
}

function History({ data, item }: { data: PageData; item: PageCase }) {
  return (
    <>
      <h4>Before</h4>
      <ol class="history">
        {item.history.map((text, index) => (
          <li key={index} class={index % 2 === 0 ? 'user' : 'assistant'}>
            <b>{index % 2 === 0 ? 'User' : 'Assistant'}</b>
            <span dir="auto">{data.texts[text]}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

function Expected({ item: { expected, answerable, needsRetrieval } }: { item: PageCase }) {
  const yesOrNo = (value: boolean | null) => (value === null ? undefined : [value ? 'yes' : 'no']);
  const named: [string, string[] | undefined][] = [
    ['Answer', expected.answers],
    ['Phrases', expected.phrases],
    ['Must not say', expected.forbidden],
    ['Sources', expected.sources],
    ['Chunks', expected.chunks],
    ['In the documents', yesOrNo(answerable)],
    ['Needs a search', yesOrNo(needsRetrieval)],
  ];
  const rows = named.flatMap(([name, values]) => (values === undefined ? [] : [{ name, values }]));
  if (rows.length === 0) return <p class="muted">Nothing is expected of it.</p>;
  return (
    <dl class="expected">
      {rows.map(({ name, values }) => (
        <div key={name}>
          <dt>{name}</dt>
          {values.map((value) => (
            <dd key={value} dir="auto">
              {value}
            </dd>
          ))}
        </div>
      ))}
    </dl>
  );
}

function ArmOfCase({ data, result, arm }: OfArmProps) {
  const name = data.arms[arm]?.name ?? '';
  const outcome = outcomeOf(data, result);
  const [first, ...repeats] = result.runs;
  return (
    <section class="arm" aria-label={name}>
      <h4>
        {name}{' '}
        <span class={`badge ${outcome.kind}`}>
          {outcome.sign} {outcome.name}
        </span>
      </h4>
      {first === undefined ? <p class="none">no data</p> : <RunView data={data} run={first} />}
      {repeats.map((run, index) => (
        <details key={index} class="repeat">
          <summary>
            Repeat {index + 2} of {result.runs.length}
          </summary>
          <RunView data={data} run={run} />
        </details>
      ))}
    </section>
  );
}

function CaseMetrics({ data, item }: { data: PageData; item: PageCase }) {
  const rows = data.metrics.flatMap((metric, place) => {
    const values = item.results.map((result) => result.values[place] ?? null);
    return values.every((value) => value === null) ? [] : [{ metric, values }];
  });
  const caption = `Metrics of ${item.id}`;
  return (
    <Scrollable label={caption}>
      <table class={byArm(data.arms, 'case-metrics')}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Metric</th>
            {data.arms.map(({ name }) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ metric, values }) => (
            <tr key={metric.id}>
              <th scope="row">{metric.label}</th>
              {values.map((value, arm) => (
                <td key={data.arms[arm]?.name} class={value === null ? 'number none' : 'number'}>
                  {value === null ? 'no data' : formatValue(value, metric.unit)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}
