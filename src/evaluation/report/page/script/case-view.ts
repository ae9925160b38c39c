/// <reference lib="dom" />
import type { formatValue } from '../../format-value.ts';
import type { PageCase, PageData, PageResult, PageRun } from '../page-data.ts';
import type { Child, MakeElement } from './element-maker.ts';

/**
 * Shows a case as one line that opens to what every arm made of it; what is inside is made when it is first opened.
 * Runs in the page: it may use nothing from outside itself.
 */
export function caseView(
  data: PageData,
  make: MakeElement,
  format: typeof formatValue,
  viewRun: (run: PageRun) => HTMLElement,
): (item: PageCase) => HTMLElement {
  const text = (place: number) => data.texts[place] ?? '';

  function outcomeOf({ values, runs }: PageResult): [kind: string, sign: string, name: string] {
    const value = data.headline === null ? null : (values[data.headline] ?? null);
    if (runs.some(({ error }) => error !== undefined)) return ['bad', '!', 'error'];
    if (value === null) return ['plain', '–', 'not judged'];
    if (value === 1) return ['good', '✓', 'right'];
    if (value === 0) return ['bad', '✗', 'wrong'];
    return ['bad', '◐', `${value.toFixed(2)} right`];
  }

  function outcomeBadge(result: PageResult, arm: string): HTMLElement {
    const [kind, sign, name] = outcomeOf(result);
    return make(
      'span',
      { class: `badge ${kind}` },
      make('span', { 'aria-hidden': 'true' }, `${sign} `),
      data.arms.length > 1 ? arm : name,
      data.arms.length > 1 && make('span', { class: 'unseen' }, `: ${name}`),
    );
  }

  function expectedView({ expected, answerable, needsRetrieval }: PageCase): Child {
    const named: [string, string[] | undefined][] = [
      ['Answer', expected.answers],
      ['Phrases', expected.phrases],
      ['Must not say', expected.forbidden],
      ['Sources', expected.sources],
      ['Chunks', expected.chunks],
    ];
    const said = (value: boolean | null) => (value === null ? null : value ? 'yes' : 'no');
    const rows: [string, string[]][] = [
      ...named.flatMap(([name, values]): [string, string[]][] =>
        values === undefined ? [] : [[name, values]],
      ),
      ...(
        [
          ['In the documents', said(answerable)],
          ['Needs a search', said(needsRetrieval)],
        ] as const
      ).flatMap(([name, value]): [string, string[]][] => (value === null ? [] : [[name, [value]]])),
    ];
    if (rows.length === 0) return make('p', { class: 'muted' }, 'Nothing is expected of it.');
    return make(
      'dl',
      { class: 'expected' },
      rows.map(([name, values]) =>
        make(
          'div',
          {},
          make('dt', {}, name),
          values.map((value) => make('dd', { dir: 'auto' }, value)),
        ),
      ),
    );
  }

  function historyView({ history }: PageCase): Child {
    if (history.length === 0) return null;
    return [
      make('h4', {}, 'Before'),
      make(
        'ol',
        { class: 'history' },
        history.map((place, index) =>
          make(
            'li',
            { class: index % 2 === 0 ? 'asked' : 'told' },
            make('b', {}, index % 2 === 0 ? 'User' : 'Assistant'),
            make('span', { dir: 'auto' }, text(place)),
          ),
        ),
      ),
    ];
  }

  function armView(result: PageResult, place: number): HTMLElement {
    const [first, ...repeats] = result.runs;
    return make(
      'section',
      { class: 'arm', 'aria-label': data.arms[place] ?? '' },
      make(
        'h4',
        {},
        data.arms[place] ?? '',
        ' ',
        make('span', { class: `badge ${outcomeOf(result)[0]}` }, outcomeOf(result).slice(1).join(' ')),
      ),
      first === undefined ? make('p', { class: 'none' }, 'no data') : viewRun(first),
      repeats.map((run, index) =>
        make(
          'details',
          { class: 'repeat' },
          make('summary', {}, `Repeat ${index + 2} of ${result.runs.length}`),
          viewRun(run),
        ),
      ),
    );
  }

  function metricsView({ results, id }: PageCase): HTMLElement {
    const known = data.metrics.flatMap((metric, place) => {
      const values = results.map((result) => result.values[place] ?? null);
      return values.every((value) => value === null) ? [] : [{ metric, values }];
    });
    return make(
      'details',
      { class: 'aside' },
      make('summary', {}, 'Metrics of this case'),
      make(
        'div',
        { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': `Metrics of ${id}` },
        make(
          'table',
          {},
          make('caption', { class: 'unseen' }, `Metrics of ${id}`),
          make(
            'thead',
            {},
            make(
              'tr',
              {},
              make('th', { scope: 'col' }, 'Metric'),
              data.arms.map((arm) => make('th', { scope: 'col', class: 'number' }, arm)),
            ),
          ),
          make(
            'tbody',
            {},
            known.map(({ metric, values }) =>
              make(
                'tr',
                {},
                make('th', { scope: 'row' }, metric.label),
                values.map((value) =>
                  value === null
                    ? make('td', { class: 'number none' }, 'no data')
                    : make('td', { class: 'number' }, format(value, metric.unit)),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }

  return (item) => {
    const inside = make('div', { class: 'inside' });
    const details = make(
      'details',
      { class: 'case' },
      make(
        'summary',
        {},
        make('span', { class: 'asks', dir: 'auto' }, item.question),
        make(
          'span',
          { class: 'outcomes' },
          item.results.map((result, place) => outcomeBadge(result, data.arms[place] ?? '')),
        ),
        make(
          'span',
          { class: 'labels' },
          make('code', {}, item.id),
          item.tags.map((tag) => make('span', { class: 'tag' }, tag)),
          item.history.length > 0 && make('span', { class: 'tag' }, `turn ${item.history.length / 2 + 1}`),
        ),
      ),
      inside,
    );
    details.addEventListener('toggle', () => {
      if (inside.childNodes.length > 0) return;
      const filled = make(
        'div',
        {},
        historyView(item),
        make('h4', {}, 'Expected'),
        expectedView(item),
        make('div', { class: 'arms-of-case' }, item.results.map(armView)),
        metricsView(item),
      );
      inside.append(...filled.childNodes);
    });
    return make('li', {}, details);
  };
}
