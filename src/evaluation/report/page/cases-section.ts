import type { ReportData } from '../report-data.ts';
import { headlineOf } from './headline.ts';
import { type Html, html } from './html.ts';
import { section } from './section.ts';

/** Keys are those of the script's filter. */
const OUTCOMES: readonly (readonly [string, string])[] = [
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
];

/** The frame of the case list: filters and an empty list, which the script fills. */
export function casesSection(data: ReportData, shortened: string | null): Html {
  const isComparison = data.arms.length > 1;
  return section(
    'cases',
    isComparison ? 'Where the arms part' : 'The cases',
    html`<noscript><p class="callout">The case list is made by a script in this page; it needs scripts to be allowed.</p></noscript>`,
    html`<form class="filters" role="search" aria-label="Filter the cases">
<div class="search"><label for="filter-text">Search</label><input type="search" id="filter-text" name="text" autocomplete="off" placeholder="Question, answer or id"></div>
${select('tag', 'Tag', [['', 'Any tag'], ...tagsOf(data).map((tag) => [tag, tag] as const)])}
${isComparison && select('differ', 'Arms', differOptions(data))}
${isComparison && select('metric', 'By', metricOptions(data))}
${select('outcome', 'Outcome', OUTCOMES)}
${isComparison && select('arm', 'In', [['', 'Any arm'], ...data.arms.map(({ name }, index) => [String(index), name] as const)])}
<button type="reset">Show all</button></form>`,
    html`<p class="count" role="status" id="case-count"></p>`,
    shortened !== null && html`<p class="hint">${shortened}</p>`,
    html`<ol class="cases" id="case-list"></ol><button type="button" class="more" id="more-cases" hidden>Show more</button>`,
  );
}

function select(name: string, label: string, options: readonly (readonly [string, string])[]): Html {
  return html`<div><label for="filter-${name}">${label}</label><select id="filter-${name}" name="${name}">${options.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select></div>`;
}

function tagsOf({ cases }: ReportData): string[] {
  return [...new Set(cases.flatMap(({ tags }) => tags))];
}

/** By place, as the script has them: `1>0` means that the second arm is better than the first. */
function differOptions({ arms }: ReportData): [string, string][] {
  const pairs = arms.flatMap((winner, i) =>
    arms.flatMap((loser, j): [string, string][] =>
      i === j ? [] : [[`${i}>${j}`, `${winner.name} better than ${loser.name}`]],
    ),
  );
  return [['all', 'All cases'], ['differ', 'Arms differ'], ['alike', 'Arms alike'], ...pairs];
}

function metricOptions(data: ReportData): [string, string][] {
  const headline = headlineOf(data);
  const known = data.metrics.filter(({ id }) =>
    data.arms.some(({ metrics }) => metrics[id]?.status === 'value'),
  );
  const ordered = headline === null ? known : [headline, ...known.filter((metric) => metric !== headline)];
  return ordered.map((metric) => [String(data.metrics.indexOf(metric)), metric.label]);
}
