import { useMemo, useRef, useState } from 'preact/hooks';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { formatCount } from '../../text/format-count.ts';
import { CaseDetails } from './case-details.tsx';
import {
  CASE_OUTCOMES,
  type CaseCriteria,
  type CaseOutcome,
  EMPTY_CRITERIA,
  filterCases,
} from './case-filter.ts';
import { ReportSection } from './report-components.tsx';

const PAGE_SIZE = 50;

/** The cases that meet the criteria, `PAGE_SIZE` at a time. */
export function CaseList({ data }: { data: ReportData }) {
  const [criteria, setCriteria] = useState(() => initialCriteria(data));
  const found = useMemo(() => filterCases(data, criteria), [data, criteria]);
  const [shown, setShown] = useState({ criteria, count: PAGE_SIZE });
  // Changed criteria start again with the first page.
  const count = shown.criteria === criteria ? shown.count : PAGE_SIZE;
  const list = useRef<HTMLOListElement>(null);
  const total = data.cases.length;
  const remaining = found.length - count;

  function showMore(): void {
    setShown({ criteria, count: count + PAGE_SIZE });
    // The button may disappear, so the focus moves to the first new case.
    setTimeout(() => list.current?.children[count]?.querySelector('summary')?.focus());
  }

  return (
    <ReportSection id="cases" title="Cases">
      <CaseFilters data={data} criteria={criteria} onCriteria={setCriteria} />
      <p class="count" role="status" id="case-count">
        {found.length === total ? `All ${formatCount(total, 'case')}` : `${found.length} of ${total} cases`}
      </p>
      <ol class="cases" id="case-list" ref={list}>
        {found.slice(0, count).map((item) => (
          <CaseDetails key={item.id} data={data} item={item} />
        ))}
      </ol>
      {remaining > 0 && (
        <button type="button" class="more" id="more-cases" onClick={showMore}>
          Show {Math.min(PAGE_SIZE, remaining)} more of {remaining}
        </button>
      )}
    </ReportSection>
  );
}

/** A comparison starts with the cases on which the arms differ, if there are any. */
function initialCriteria(data: ReportData): CaseCriteria {
  const differing: CaseCriteria = { ...EMPTY_CRITERIA, difference: 'differ' };
  return data.arms.length > 1 && filterCases(data, differing).length > 0 ? differing : EMPTY_CRITERIA;
}

interface CaseFiltersProps {
  data: ReportData;
  criteria: CaseCriteria;
  onCriteria: (criteria: CaseCriteria) => void;
}

function CaseFilters({ data, criteria, onCriteria }: CaseFiltersProps) {
  const change = (fields: Partial<CaseCriteria>) => onCriteria({ ...criteria, ...fields });
  const tags = useMemo(() => [...new Set(data.cases.flatMap((item) => item.tags))], [data]);
  const [baseline, ...others] = data.arms.map(({ name }) => name);
  const isComparison = others.length > 0;
  return (
    <search>
      <form class="filters" aria-label="Filter cases" onSubmit={(event) => event.preventDefault()}>
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
        <Select
          name="tag"
          label="Tag"
          value={criteria.tag}
          options={[['', 'Any tag'], ...tags.map((tag): Option => [tag, tag])]}
          onSelect={(tag) => change({ tag })}
        />
        {isComparison && (
          <Select
            name="difference"
            label="Difference"
            value={criteria.difference}
            options={[
              ['all', 'All cases'],
              ['differ', 'Arms differ'],
              ...others.flatMap((arm): Option[] => [
                [`better:${arm}`, `${arm} better than ${baseline}`],
                [`worse:${arm}`, `${arm} worse than ${baseline}`],
              ]),
            ]}
            onSelect={(difference) => change({ difference })}
          />
        )}
        <Select
          name="outcome"
          label="Outcome"
          value={criteria.outcome}
          options={Object.entries(CASE_OUTCOMES).map(([outcome, [label]]) => [outcome, label])}
          onSelect={(outcome) => change({ outcome: outcome as CaseOutcome })}
        />
        {isComparison && (
          <Select
            name="arm"
            label="Arm"
            value={criteria.arm ?? ''}
            options={[['', 'Any arm'], ...data.arms.map(({ name }): Option => [name, name])]}
            onSelect={(arm) => change({ arm: arm === '' ? null : arm })}
          />
        )}
        <button type="button" onClick={() => onCriteria(EMPTY_CRITERIA)}>
          Show all
        </button>
      </form>
    </search>
  );
}

type Option = readonly [value: string, label: string];

interface SelectProps {
  name: string;
  label: string;
  value: string;
  options: readonly Option[];
  onSelect: (value: string) => void;
}

function Select({ name, label, value, options, onSelect }: SelectProps) {
  return (
    <div>
      <label for={`filter-${name}`}>{label}</label>
      <select
        id={`filter-${name}`}
        name={name}
        value={value}
        onInput={(event) => onSelect(event.currentTarget.value)}
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
