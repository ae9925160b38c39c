import { useMemo, useRef, useState } from 'preact/hooks';
import { knownValue } from '../../evaluation/report/format-value.ts';
import type { PageData } from '../../evaluation/report/page-data.ts';
import { counted } from '../../text/phrasing.ts';
import { type Criteria, caseFilter } from './case-filter.ts';
import { CaseView } from './case-view.tsx';
import { headlineOf } from './numbers.ts';
import { Section } from './parts.tsx';

/** Cases shown at a time. */
const BATCH = 50;

const OUTCOMES: readonly Option<Criteria['outcome']>[] = [
  ['any', 'Any outcome'],
  ['right', 'Right'],
  ['wrong', 'Wrong'],
  ['abstained', 'Said that it does not know'],
  ['abstained-wrongly', 'Said so although answerable'],
  ['answered-wrongly', 'Answered although not answerable'],
  ['over-search', 'Searched without need'],
  ['under-search', 'Did not search when needed'],
  ['unsupported', 'A citation that is not supported'],
  ['error', 'Ended in an error'],
  ['flaky', 'Right at times only'],
  ['search-needed', 'Search was needed'],
  ['search-idle', 'Search was idle'],
  ['search-harmful', 'Search was harmful'],
  ['search-missed', 'Search was missed'],
  ['search-spared', 'Search was rightly spared'],
];

/** No criterion: every case. */
export function allCases({ headline }: PageData): Criteria {
  return { text: '', tag: '', differ: 'all', metric: headline, outcome: 'any', arm: null };
}

interface CasesProps {
  data: PageData;
  criteria: Criteria;
  onCriteria: (criteria: Criteria) => void;
}

/** The cases that meet the criteria, some at a time. */
export function Cases({ data, criteria, onCriteria }: CasesProps) {
  const filter = useMemo(() => caseFilter(data), [data]);
  const found = useMemo(() => filter(criteria), [filter, criteria]);
  /** How many are shown, of which criteria: with others it begins anew. */
  const [shown, setShown] = useState({ criteria, count: BATCH });
  const count = shown.criteria === criteria ? shown.count : BATCH;
  /** A case that was opened stays so when it comes back. */
  const open = useRef(new Set<number>());
  const list = useRef<HTMLOListElement>(null);
  const all = data.cases.length;
  const left = found.length - count;

  function showMore(): void {
    setShown({ criteria, count: count + BATCH });
    // The button may vanish below the finger; go on where the new ones begin.
    setTimeout(() => list.current?.children[count]?.querySelector('summary')?.focus());
  }

  return (
    <Section id="cases" title={data.arms.length > 1 ? 'Where the arms part' : 'The cases'}>
      <Filters data={data} criteria={criteria} onCriteria={onCriteria} />
      <p class="count" role="status" id="case-count">
        {found.length === all ? `All ${counted(all, 'case')}` : `${found.length} of ${all} cases`}
      </p>
      {data.shortened !== null && <p class="hint">{data.shortened}</p>}
      <ol class="cases" id="case-list" ref={list}>
        {found.slice(0, count).map((place) => (
          <CaseView key={place} data={data} place={place} open={open.current} />
        ))}
      </ol>
      <button type="button" class="more" id="more-cases" hidden={left <= 0} onClick={showMore}>
        Show {Math.min(BATCH, left)} more of {left}
      </button>
    </Section>
  );
}

function Filters({ data, criteria, onCriteria }: CasesProps) {
  const change = (fields: Partial<Criteria>) => onCriteria({ ...criteria, ...fields });
  const tags = useMemo(() => [...new Set(data.cases.flatMap(({ tags }) => tags))], [data]);
  const isComparison = data.arms.length > 1;
  return (
    <search>
      <form class="filters" aria-label="Filter the cases" onSubmit={(event) => event.preventDefault()}>
        <div class="search">
          <label for="filter-text">Search</label>
          <input
            type="search"
            id="filter-text"
            name="text"
            autocomplete="off"
            placeholder="Question, answer or id"
            value={criteria.text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
        </div>
        <Choice
          name="tag"
          label="Tag"
          value={criteria.tag}
          options={[['', 'Any tag'], ...tags.map((tag): Option => [tag, tag])]}
          onChoice={(tag) => change({ tag })}
        />
        {isComparison && (
          <>
            <Choice
              name="differ"
              label="Arms"
              value={criteria.differ}
              options={differOptions(data)}
              onChoice={(differ) => change({ differ })}
            />
            <Choice
              name="metric"
              label="By"
              value={String(criteria.metric ?? '')}
              options={metricOptions(data)}
              onChoice={(metric) => change({ metric: Number(metric) })}
            />
          </>
        )}
        <Choice
          name="outcome"
          label="Outcome"
          value={criteria.outcome}
          options={OUTCOMES.filter(
            ([outcome]) => data.searchWorth.length > 0 || !outcome.startsWith('search-'),
          )}
          onChoice={(outcome) => change({ outcome })}
        />
        {isComparison && (
          <Choice
            name="arm"
            label="In"
            value={String(criteria.arm ?? '')}
            options={[['', 'Any arm'], ...data.arms.map(({ name }, place): Option => [String(place), name])]}
            onChoice={(arm) => change({ arm: arm === '' ? null : Number(arm) })}
          />
        )}
        <button type="button" onClick={() => onCriteria(allCases(data))}>
          Show all
        </button>
      </form>
    </search>
  );
}

type Option<T extends string = string> = readonly [value: T, text: string];

interface ChoiceProps<T extends string> {
  name: string;
  label: string;
  value: T;
  options: readonly Option<T>[];
  onChoice: (value: T) => void;
}

function Choice<T extends string>({ name, label, value, options, onChoice }: ChoiceProps<T>) {
  return (
    <div>
      <label for={`filter-${name}`}>{label}</label>
      <select
        id={`filter-${name}`}
        name={name}
        value={value}
        onInput={(event) => onChoice(event.currentTarget.value as T)}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** By place: `1>0` means that the second arm is better than the first. */
function differOptions({ arms }: PageData): Option[] {
  const pairs = arms.flatMap((winner, i) =>
    arms.flatMap((loser, j): Option[] =>
      i === j ? [] : [[`${i}>${j}`, `${winner.name} better than ${loser.name}`]],
    ),
  );
  return [['all', 'All cases'], ['differ', 'Arms differ'], ['alike', 'Arms alike'], ...pairs];
}

/** The headline first, then every metric that any arm has. */
function metricOptions(data: PageData): Option[] {
  const headline = headlineOf(data);
  const known = data.metrics.filter(({ id }) =>
    data.arms.some(({ metrics }) => knownValue(metrics[id]) !== null),
  );
  const ordered = headline === null ? known : [headline, ...known.filter((metric) => metric !== headline)];
  return ordered.map((metric) => [String(data.metrics.indexOf(metric)), metric.label]);
}
