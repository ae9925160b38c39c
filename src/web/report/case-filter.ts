import type { MetricInfo } from '../../evaluation/report/metric-value.ts';
import type { PageCase, PageData, PageRun } from '../../evaluation/report/page-data.ts';
import type { SearchKind } from '../../evaluation/report/report-case.ts';
import { isBorneOut } from '../shared/verdicts.ts';

export type Outcome =
  | 'any'
  | 'right'
  | 'wrong'
  | 'abstained'
  | 'abstained-wrongly'
  | 'answered-wrongly'
  | 'over-search'
  | 'under-search'
  | 'unsupported'
  | 'error'
  | 'flaky'
  | `search-${SearchKind}`;

export interface Criteria {
  text: string;
  tag: string;
  /** `all`, `differ`, `alike`, or `1>0`: the second arm is better than the first. */
  differ: string;
  /** The place of the metric by which they differ; null where there is none. */
  metric: number | null;
  outcome: Outcome;
  /** The place of the arm that the outcome is asked of; null for any. */
  arm: number | null;
}

export interface FilteredData extends Pick<PageData, 'headline' | 'texts' | 'cases'> {
  metrics: readonly Pick<MetricInfo, 'better'>[];
}

/** Gives the places of the cases that meet all criteria, in order. */
export function caseFilter(data: FilteredData): (criteria: Criteria) => number[] {
  /** Searched texts, made when first searched. */
  let haystacks: string[] | null = null;

  function haystackOf(item: PageCase): string {
    const answers = item.results.flatMap(({ runs }) =>
      runs.map(({ answer }) => (answer === undefined ? '' : (data.texts[answer] ?? ''))),
    );
    return [item.id, item.question, ...item.tags, ...new Set(answers)].join('\n').toLowerCase();
  }

  function meetsDifference(item: PageCase, { differ, metric }: Criteria): boolean {
    if (differ === 'all' || metric === null) return true;
    const values = item.results.map((result) => result.values[metric] ?? null);
    const known = values.filter((value) => value !== null);
    const isDifferent = known.some((value) => Math.abs(value - (known[0] ?? 0)) > 1e-9);
    if (differ === 'differ') return isDifferent;
    if (differ === 'alike') return !isDifferent;
    const [winner, loser] = differ.split('>').map((place) => values[Number(place)] ?? null);
    if (winner === null || loser === null || winner === undefined || loser === undefined) return false;
    const gain = data.metrics[metric]?.better === 'lower' ? loser - winner : winner - loser;
    return gain > 1e-9;
  }

  function runHas(outcome: Outcome, item: PageCase, run: PageRun): boolean {
    const searched = (run.searches ?? 0) > 0;
    switch (outcome) {
      case 'abstained':
        return run.abstained === 1;
      case 'abstained-wrongly':
        return run.abstained === 1 && item.answerable === true;
      case 'answered-wrongly':
        return run.abstained !== 1 && run.error === undefined && item.answerable === false;
      case 'over-search':
        return searched && item.needsRetrieval === false;
      case 'under-search':
        return !searched && item.needsRetrieval === true;
      case 'unsupported':
        return run.citations?.some(([, verdict]) => !isBorneOut(verdict)) === true;
      case 'error':
        return run.error !== undefined;
      default:
        return true;
    }
  }

  function meetsOutcome(item: PageCase, { outcome, arm }: Criteria): boolean {
    if (outcome === 'any') return true;
    const meant = item.results.filter((_, place) => arm === null || place === arm);
    return meant.some(({ values, runs, search }) => {
      const headline = data.headline === null ? null : (values[data.headline] ?? null);
      if (outcome === 'right') return headline === 1;
      if (outcome.startsWith('search-')) return `search-${search}` === outcome;
      if (outcome === 'flaky') return headline !== null && headline > 0 && headline < 1;
      if (outcome === 'wrong') return headline !== null && headline < 1;
      return runs.some((run) => runHas(outcome, item, run));
    });
  }

  return (criteria) => {
    const words = criteria.text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length > 0) haystacks ??= data.cases.map(haystackOf);
    return data.cases.flatMap((item, place) => {
      const isMet =
        (criteria.tag === '' || item.tags.includes(criteria.tag)) &&
        meetsDifference(item, criteria) &&
        meetsOutcome(item, criteria) &&
        words.every((word) => haystacks?.[place]?.includes(word) === true);
      return isMet ? [place] : [];
    });
  };
}
