import { knownValue } from '../../evaluation/report/format-value.ts';
import type { MetricInfo, MetricValue } from '../../evaluation/report/metric-value.ts';
import type { PageData } from '../../evaluation/report/page-data.ts';
import type { Arm } from '../../evaluation/report/report-data.ts';
import { counted } from '../../text/phrasing.ts';
import { bestOf, type Conclusion, headlineOf, isChange, range, readable } from './numbers.ts';
import { ArmName, byArm, NoData, Scrollable, Section, ValueWithRange } from './parts.tsx';
import { linear, place } from './scale.ts';

const GROUPS: Record<MetricInfo['group'], string> = {
  answer: 'Answers',
  repeat: 'Asked several times',
  retrieval: 'Retrieval',
  citation: 'Citations',
  abstention: 'Abstention',
  decision: 'The decision to search',
  effort: 'Effort',
  cost: 'Cost',
  time: 'Time',
  judge: 'Judged by a model',
};
/** What a card has besides its headline. */
const ALSO = ['cost.tokens', 'cost.money', 'time.total'];
const BAR = { width: 240, height: 14 };
const TAG_BAR = 80;

/** Every arm at a glance, every metric of every arm, and where each is strong. */
export function Arms({ data }: { data: PageData }) {
  return (
    <Section id="arms" title={data.arms.length === 1 ? 'What was measured' : 'The arms side by side'}>
      <ul class="cards">
        {data.arms.map((arm, index) => (
          <ArmCard key={arm.name} arm={arm} index={index} data={data} />
        ))}
      </ul>
      <Scrollable label="Metrics by arm">
        <MetricsTable data={data} />
      </Scrollable>
      <TagTable data={data} />
      <details class="aside">
        <summary>What the metrics say</summary>
        <dl class="meanings">
          {data.metrics.map(({ id, label, description }) => (
            <div key={id}>
              <dt>
                {label} <code>{id}</code>
              </dt>
              <dd>{description}</dd>
            </div>
          ))}
        </dl>
      </details>
    </Section>
  );
}

/** The headline with its interval, and what a turn takes. */
function ArmCard({ arm, index, data }: { arm: Arm; index: number; data: PageData }) {
  const also = data.metrics.filter(
    ({ id }) => ALSO.includes(id) && data.arms.some(({ metrics }) => knownValue(metrics[id]) !== null),
  );
  return (
    <li class="card">
      <h3>
        <ArmName arm={index} name={arm.name} />
      </h3>
      <HeadlineFigure arm={arm} headline={headlineOf(data)} />
      <dl>
        {also.map(({ id, label, unit }) => {
          const value = knownValue(arm.metrics[id]);
          return (
            <div key={id}>
              <dt>{label}</dt>
              <dd>{value === null ? <NoData /> : readable(value.value, unit)}</dd>
            </div>
          );
        })}
        {arm.errors > 0 && (
          <div>
            <dt>Runs in error</dt>
            <dd>{arm.errors}</dd>
          </div>
        )}
      </dl>
    </li>
  );
}

function HeadlineFigure({ arm, headline }: { arm: Arm; headline: MetricInfo | null }) {
  const value = headline === null ? null : knownValue(arm.metrics[headline.id]);
  if (headline === null || value === null) {
    return (
      <>
        <p class="big">
          <NoData />
        </p>
        {headline !== null && <p class="under">{headline.label}</p>}
      </>
    );
  }
  const { interval, n } = value;
  const x = linear([0, 1], [1, BAR.width - 1]);
  const middle = BAR.height / 2;
  return (
    <>
      <p class="big">
        {(value.value * 100).toFixed(1)}
        <span class="unit"> %</span>
      </p>
      <p class="under">
        {headline.label}, {counted(n, 'case')}
      </p>
      <svg class="bar" viewBox={`0 0 ${BAR.width} ${BAR.height}`} aria-hidden="true" focusable="false">
        <path class="track" d={`M1 ${middle}H${BAR.width - 1}`} />
        {interval !== null && (
          <path class="span" d={`M${place(x(interval[0]))} ${middle}H${place(x(interval[1]))}`} />
        )}
        <circle class="dot" cx={place(x(value.value))} cy={middle} r="4" />
      </svg>
      <p class="under">
        {interval === null ? (
          'no interval'
        ) : (
          <>
            95 % interval <span class="key">{range(interval, headline.unit)}</span>
          </>
        )}
      </p>
    </>
  );
}

function MetricsTable({ data }: { data: PageData }) {
  const { metrics, arms } = data;
  const groups = Map.groupBy(metrics, ({ group }) => group);
  return (
    <table class={byArm(arms, 'metrics')}>
      <caption>
        Values with their 95 % intervals.
        {arms.length > 1 && (
          <>
            {' '}
            <span class="key">★ best value measured, unless tied</span>{' '}
            <span class="key">▲ ▼ proven better or worse than {arms[0]?.name}, after Holm’s correction</span>
          </>
        )}
      </caption>
      <thead>
        <tr>
          <th scope="col">Metric</th>
          {arms.map(({ name }, index) => (
            <th key={name} scope="col" class="number">
              <ArmName arm={index} name={name} />
            </th>
          ))}
          <th scope="col" class="number">
            Cases
          </th>
        </tr>
      </thead>
      {Array.from(groups, ([group, members]) => (
        <tbody key={group}>
          <tr class="group">
            <th scope="rowgroup" colSpan={arms.length + 2}>
              <span>{GROUPS[group]}</span>
            </th>
          </tr>
          {members.map((metric) => (
            <MetricRow key={metric.id} metric={metric} data={data} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

/** Where no arm has data and all for the same reason, the row says it once. */
function MetricRow({ metric, data: { arms, comparisons } }: { metric: MetricInfo; data: PageData }) {
  const values = arms.map(({ metrics }) => metrics[metric.id]);
  const [reason, ...others] = new Set(values.map(reasonOf));
  const best = bestOf(values, metric);
  const head = (
    <th scope="row">
      {metric.label}
      {metric.better === 'lower' && (
        <>
          {' '}
          <small>less is better</small>
        </>
      )}
    </th>
  );
  if (others.length === 0 && typeof reason === 'string') {
    return (
      <tr>
        {head}
        <td colSpan={arms.length + 1}>
          <span class="none reason">no data: {reason}</span>
        </td>
      </tr>
    );
  }
  const conclusionOn = (arm: Arm) =>
    comparisons
      .find((comparison) => comparison.arm === arm.name)
      ?.metrics.find((comparison) => comparison.metric === metric.id)?.conclusion;
  return (
    <tr>
      {head}
      {arms.map((arm, index) => (
        <td key={arm.name} class={index === best ? 'number best' : 'number'}>
          <ChangeSign conclusion={conclusionOn(arm)} />
          {index === best && (
            <>
              <span class="star" aria-hidden="true">
                ★
              </span>
              <span class="unseen">best, </span>
            </>
          )}
          <ValueWithRange value={values[index]} unit={metric.unit} />
        </td>
      ))}
      <td class="number muted">{countsOf(values)}</td>
    </tr>
  );
}

function ChangeSign({ conclusion }: { conclusion: Conclusion | undefined }) {
  if (conclusion === undefined || !isChange(conclusion)) return null;
  return (
    <>
      <span class={`change ${conclusion}`} aria-hidden="true">
        {conclusion === 'better' ? '▲' : '▼'}
      </span>
      <span class="unseen">proven {conclusion}, </span>
    </>
  );
}

function reasonOf(value: MetricValue | undefined): string | null {
  return value?.status === 'no data' ? value.reason : null;
}

function countsOf(values: readonly (MetricValue | undefined)[]): string {
  const counts = values.flatMap((value) => knownValue(value)?.n ?? []);
  const [low, high] = [Math.min(...counts), Math.max(...counts)];
  return low === high ? String(low) : `${low}–${high}`;
}

/** The headline for each kind of case. Nothing without tags. */
function TagTable({ data }: { data: PageData }) {
  const headline = headlineOf(data);
  const { arms } = data;
  const tags = [...new Set(arms.flatMap(({ tags }) => Object.keys(tags)))];
  if (headline === null || tags.length === 0) return null;
  const caption = `${headline.label}, by tag`;
  return (
    <Scrollable label={caption}>
      <table class={byArm(arms, 'tags')}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Tag</th>
            <th scope="col" class="number">
              Cases
            </th>
            {arms.map(({ name }, index) => (
              <th key={name} scope="col" class="number">
                <ArmName arm={index} name={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tags.map((tag) => (
            <tr key={tag}>
              <th scope="row">{tag}</th>
              <td class="number muted">{arms[0]?.tags[tag]?.n ?? 0}</td>
              {arms.map(({ name, tags }) => (
                <td key={name} class="number">
                  <TagValue value={tags[tag]?.metrics[headline.id] ?? null} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function TagValue({ value }: { value: number | null }) {
  if (value === null) return <NoData />;
  const share = Math.min(1, Math.max(0, value));
  return (
    <span class="with-bar">
      <svg viewBox={`0 0 ${TAG_BAR} 8`} width={TAG_BAR} height="8" aria-hidden="true" focusable="false">
        <rect class="track" width={TAG_BAR} height="8" rx="2" />
        <rect class="fill" width={place(share * TAG_BAR)} height="8" rx="2" />
      </svg>{' '}
      <span class="value">{readable(value, 'share')}</span>
    </span>
  );
}
