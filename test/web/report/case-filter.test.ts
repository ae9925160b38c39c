import { expect, test } from 'vitest';
import type { PageCase, PageRun } from '../../../src/evaluation/report/page-data.ts';
import { type Criteria, caseFilter, type FilteredData } from '../../../src/web/report/case-filter.ts';

const run = (fields: Partial<PageRun> = {}): PageRun => ({ times: [null, 0, 0, 1], ...fields });

/** Values by arm are those of "correct" and of "tokens". */
function pageCase(
  id: string,
  values: (number | null)[][],
  fields: Partial<PageCase> = {},
  runs: PageRun[] = [],
): PageCase {
  return {
    id,
    question: `question of ${id}`,
    answerable: null,
    needsRetrieval: null,
    tags: [],
    history: [],
    expected: {},
    results: values.map((own, arm) => ({ values: own, runs: [runs[arm] ?? run()] })),
    ...fields,
  };
}

function places(cases: PageCase[], criteria: Partial<Criteria>): number[] {
  const data: FilteredData = {
    metrics: [{ better: 'higher' }, { better: 'lower' }],
    headline: 0,
    texts: ['The Moon is far.', 'no idea'],
    cases,
  };
  return caseFilter(data)({
    text: '',
    tag: '',
    differ: 'all',
    metric: 0,
    outcome: 'any',
    arm: null,
    ...criteria,
  });
}

const sample = [
  pageCase(
    'a',
    [
      [1, 10],
      [0, 20],
    ],
    { tags: ['plain'] },
  ),
  pageCase(
    'b',
    [
      [0, 10],
      [1, 10],
    ],
    { tags: ['plain', 'long'] },
  ),
  pageCase('c', [
    [1, 30],
    [1, 20],
  ]),
  pageCase('d', [
    [null, 5],
    [null, 5],
  ]),
];

test('without criteria every case is shown', () => {
  expect(places(sample, {})).toEqual([0, 1, 2, 3]);
});

test('cases are found by the arms that differ, in either direction', () => {
  expect(places(sample, { differ: 'differ' })).toEqual([0, 1]);
  expect(places(sample, { differ: 'alike' })).toEqual([2, 3]);
  expect(places(sample, { differ: '0>1' })).toEqual([0]);
  expect(places(sample, { differ: '1>0' })).toEqual([1]);
});

test('where less is better, the arm with less is the better one', () => {
  expect(places(sample, { differ: '0>1', metric: 1 })).toEqual([0]);
  expect(places(sample, { differ: '1>0', metric: 1 })).toEqual([2]);
});

test('a case without a value is neither right nor wrong', () => {
  expect(places(sample, { outcome: 'right' })).toEqual([0, 1, 2]);
  expect(places(sample, { outcome: 'wrong' })).toEqual([0, 1]);
  expect(places(sample, { outcome: 'wrong', arm: 0 })).toEqual([1]);
});

test('cases are found by tag and by words of question, id or answer', () => {
  const spoken = [
    ...sample,
    pageCase(
      'e',
      [
        [1, 1],
        [1, 1],
      ],
      {},
      [run({ answer: 0 }), run({ answer: 1 })],
    ),
  ];
  expect(places(spoken, { tag: 'long' })).toEqual([1]);
  expect(places(spoken, { text: 'moon FAR' })).toEqual([4]);
  expect(places(spoken, { text: 'question of c' })).toEqual([2]);
  expect(places(spoken, { text: 'nowhere' })).toEqual([]);
});

test('cases are found by what a run did', () => {
  const cases = [
    pageCase('0', [[1, 1]], { answerable: true }, [run({ abstained: 1 })]),
    pageCase('1', [[1, 1]], { answerable: false }, [run()]),
    pageCase('2', [[1, 1]], { needsRetrieval: false }, [run({ searches: 1 })]),
    pageCase('3', [[1, 1]], { needsRetrieval: true }, [run()]),
    pageCase('4', [[1, 1]], {}, [run({ citations: [['1', 'weak', 0, 0.5, null]] })]),
    pageCase('5', [[0, 1]], { answerable: false }, [run({ error: ['api_error', 0] })]),
  ];
  expect(places(cases, { outcome: 'abstained-wrongly' })).toEqual([0]);
  expect(places(cases, { outcome: 'answered-wrongly' })).toEqual([1]);
  expect(places(cases, { outcome: 'over-search' })).toEqual([2]);
  expect(places(cases, { outcome: 'under-search' })).toEqual([3]);
  expect(places(cases, { outcome: 'unsupported' })).toEqual([4]);
  expect(places(cases, { outcome: 'error' })).toEqual([5]);
});
