import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allMetrics } from '../../../src/evaluation/metrics/all-metrics.ts';
import { gradeAnswer, isCorrect } from '../../../src/evaluation/metrics/answer-metrics.ts';
import type { CaseGold } from '../../../src/evaluation/metrics/metric.ts';
import type { CaseRun } from '../../../src/evaluation/report/case-run.ts';
import {
  createCitation,
  createGold,
  createRun,
  createRunError,
  createRunWithResults,
} from '../run-fixtures.ts';
import { measureMetric } from './measure-metric.ts';

/** The metric over cases of one run each. */
function measured(id: string, ...cases: [CaseRun, CaseGold][]): number | string {
  return measureMetric(id, cases);
}

test('recall@5 is the share of expected sources among the first five documents', () => {
  const sources = ['a.md', 'f.md', 'x.md'];
  const found = createRunWithResults('b.md', 'a.md', 'a.md', 'c.md', 'd.md', 'e.md', 'f.md');
  // a ranks second; f sixth, because the second chunk of a does not count; x is missing.
  expect(measured('retrieval.recall@5', [found, createGold({ sources })])).toBeCloseTo(1 / 3);
});

test('retrieval metrics are 0 for a run without a search', () => {
  const gold = createGold({ sources: ['a.md'] });
  expect(measured('retrieval.recall@5', [createRun(), gold], [createRunWithResults('a.md'), gold])).toBe(0.5);
  expect(measured('retrieval.ndcg@10', [createRun(), gold])).toBe(0);
});

test('expected chunks take precedence over expected sources', () => {
  const gold = createGold({ chunks: ['b.md-1'], sources: ['a.md'] });
  expect(measured('retrieval.ndcg@10', [createRunWithResults('a.md', 'b.md'), gold])).toBeCloseTo(
    1 / Math.log2(3),
  );
});

test('nDCG@10 discounts by the logarithm of the rank', () => {
  const gold = createGold({ sources: ['a.md', 'b.md'] });
  // Ranks 1 and 3: (1 + 1/2) / (1 + 1/log2 3) = 1.5 / 1.63093.
  expect(measured('retrieval.ndcg@10', [createRunWithResults('a.md', 'x.md', 'b.md'), gold])).toBeCloseTo(
    0.91972,
    5,
  );
  expect(measured('retrieval.ndcg@10', [createRunWithResults('b.md', 'a.md'), gold])).toBe(1);
});

test('retrieval metrics skip unanswerable questions', () => {
  expect(
    measured('retrieval.recall@5', [createRun(), createGold({ sources: ['a.md'], answerable: false })]),
  ).toBe('no case has expectedSources or expectedChunks');
});

test('citation precision counts every citation, made-up sources as failed', () => {
  const three = createRun({
    citations: [
      createCitation('a.md'),
      createCitation('b.md', 'unsupported'),
      createCitation('', 'unknown_source'),
    ],
  });
  const one = createRun({ citations: [createCitation('a.md')] });
  expect(
    measured('citation.precision', [three, createGold()], [one, createGold()], [createRun(), createGold()]),
  ).toBe(2 / 4);
  expect(measured('citation.precision', [createRun(), createGold()])).toBe('nothing was cited');
});

test('citation recall is the share of expected sources that are cited with support', () => {
  const gold = createGold({ sources: ['a.md', 'b.md'] });
  const run = createRun({
    citations: [createCitation('a.md'), createCitation('b.md', 'unsupported'), createCitation('c.md')],
  });
  expect(measured('citation.recall', [run, gold])).toBe(0.5);
});

test('sentences supported skips abstentions and small talk and counts sentences without citations', () => {
  const sentence = (verdict: 'supported' | 'unsupported' | null) => ({
    text: 'x',
    markers: [],
    verdict,
    reason: null,
  });
  const run = createRun({
    searches: 1,
    sentences: [sentence('supported'), sentence('unsupported'), sentence(null)],
  });
  const abstention = createRun({ searches: 1, abstained: true, sentences: [sentence(null)] });
  const greeting = createRun({ sentences: [sentence(null)] });
  expect(
    measured('citation.sentences', [run, createGold()], [abstention, createGold()], [greeting, createGold()]),
  ).toBeCloseTo(1 / 3);
});

test('an answer is correct by phrases, else by answers, else by sources, and by abstaining', () => {
  const correct = (run: Partial<CaseRun>, gold: Parameters<typeof createGold>[0]) =>
    measured('answer.correct', [createRun(run), createGold(gold)]);
  expect(correct({ answer: 'It is blue.' }, { phrases: ['blue'], answers: ['red'] })).toBe(1);
  expect(correct({ answer: 'It is blue.' }, { phrases: ['blue', 'red'] })).toBe(0);
  expect(correct({ answer: 'The sky is of a blue kind.' }, { answers: ['red', 'blue'] })).toBe(1);
  expect(
    correct({ answer: 'Robots move by motors that drive wheels' }, { answers: ['Motors drive the wheel'] }),
  ).toBe(1);
  expect(correct({ answer: 'Something else entirely.' }, { answers: ['Motors drive the wheel'] })).toBe(0);
  expect(correct({ citations: [createCitation('a.md')] }, { sources: ['a.md'] })).toBe(1);
  expect(correct({ citations: [createCitation('a.md', 'unsupported')] }, { sources: ['a.md'] })).toBe(0);
  expect(correct({ abstained: true }, { answerable: false })).toBe(1);
  expect(correct({ answer: 'It is blue.' }, { answerable: false })).toBe(0);
  expect(correct({ answer: 'blue', abstained: true }, { phrases: ['blue'] })).toBe(0);
  expect(correct({ answer: 'blue pill' }, { phrases: ['blue'], forbidden: ['pill'] })).toBe(0);
  expect(correct({ abstained: true, error: createRunError() }, { answerable: false })).toBe(0);
  expect(correct({}, { needsRetrieval: false })).toContain('no case has expectedPhrases');
});

test('abstention precision and recall count cases with answerable', () => {
  const cases: [CaseRun, CaseGold][] = [
    [createRun({ abstained: true }), createGold({ answerable: false })],
    [createRun({ abstained: true }), createGold({ answerable: true })],
    [createRun({ abstained: true }), createGold({ answerable: true })],
    [createRun(), createGold({ answerable: false })],
    [createRun(), createGold({ answerable: true })],
    [createRun({ abstained: true }), createGold()],
  ];
  // One of three abstentions is right; one of two unanswerable questions has one.
  expect(measured('abstention.precision', ...cases)).toBeCloseTo(1 / 3);
  expect(measured('abstention.recall', ...cases)).toBe(0.5);
});

test('abstention has no data without an abstention or an unanswerable question', () => {
  expect(measured('abstention.precision', [createRun(), createGold({ answerable: true })])).toBe(
    'no answer abstained',
  );
  expect(measured('abstention.recall', [createRun(), createGold({ answerable: true })])).toBe(
    'no case has answerable: false',
  );
});

test('over-search and under-search compare searches with needsRetrieval', () => {
  const cases: [CaseRun, CaseGold][] = [
    [createRun({ searches: 2 }), createGold({ needsRetrieval: true })],
    [createRun(), createGold({ needsRetrieval: true })],
    [createRun(), createGold({ needsRetrieval: true })],
    [createRun({ searches: 1 }), createGold({ needsRetrieval: false })],
    [createRun(), createGold({ needsRetrieval: false })],
    [createRun({ searches: 1, error: createRunError() }), createGold({ needsRetrieval: false })],
    [createRun({ searches: 1 }), createGold()],
  ];
  expect(measured('decision.over', ...cases)).toBe(1 / 2);
  expect(measured('decision.under', ...cases)).toBeCloseTo(2 / 3);
});

test('effort, cost and time skip failed runs', () => {
  const run = createRun({
    steps: 3,
    searches: 4,
    duplicateSearches: 1,
    tokens: { prompt: 90, completion: 10, total: 100 },
    cost: 0.5,
    timesMs: { firstToken: 20, retrieval: 5, generation: 25, total: 30 },
  });
  const failed = createRun({
    error: createRunError(),
    steps: 99,
    tokens: { prompt: 0, completion: 0, total: 0 },
  });
  const cases: [CaseRun, CaseGold][] = [
    [run, createGold()],
    [failed, createGold()],
  ];
  expect(measured('effort.searches', ...cases)).toBe(4);
  expect(measured('cost.tokens', ...cases)).toBe(100);
  expect(measured('cost.money', ...cases)).toBe(0.5);
  expect(measured('time.first_token', ...cases)).toBe(20);
  expect(measured('time.total', ...cases)).toBe(30);
  expect(measured('time.total', [failed, createGold()])).toBe('times are not measured on a tape');
});

test('every metric has a unique id and is defined in docs/evaluation.md', () => {
  const ids = allMetrics.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const definitions = readFileSync('docs/evaluation.md', 'utf8');
  expect(ids.filter((id) => !definitions.includes(`\`${id}\``))).toEqual([]);
});

test('compares words without accents in any script', () => {
  const gold = createGold({ answers: ['Der Fluß Añapa, Nr. 5'] });
  expect(measured('answer.correct', [createRun({ answer: 'der fluß anapa nr 5' }), gold])).toBe(1);
  expect(measured('answer.correct', [createRun({ answer: 'der fluß anapa nr 6' }), gold])).toBe(0);
});

test.each<[string, CaseRun, CaseGold]>([
  [
    'abstains',
    createRun({ answer: 'I do not know.', abstained: true }),
    createGold({ phrases: ['at night'] }),
  ],
  [
    'does not contain “at night”',
    createRun({ answer: 'Owls hunt mice.' }),
    createGold({ phrases: ['hunt mice', 'at night'] }),
  ],
  [
    'does not say “Mice.” or “Small rodents.”',
    createRun({ answer: 'Nothing.' }),
    createGold({ answers: ['Mice.', 'Small rodents.'] }),
  ],
  [
    'does not cite a.md',
    createRun({ citations: [createCitation('b.md')] }),
    createGold({ sources: ['a.md'] }),
  ],
  [
    'contains forbidden “never”',
    createRun({ answer: 'Never.' }),
    createGold({ forbidden: ['never', 'always'] }),
  ],
  ['answers an unanswerable question', createRun({ answer: 'Mice.' }), createGold({ answerable: false })],
])('explains that a wrong answer %s', (wrong, run, gold) => {
  expect(gradeAnswer(run, gold)).toEqual({ correct: false, reason: wrong });
});

test.each<[expected: string, answer: string, correct: boolean | null]>([
  ['The default reliability is reliable.', 'By default, the reliability is reliable [1].', true],
  ['The default reliability is reliable.', 'The default reliability is not reliable.', false],
  ['reliable', 'It is reliable, not best effort.', true],
  ['reliable', 'It is not reliable.', false],
  ['Nodes cannot be reused.', 'Nodes can be reused.', false],
  ['Nodes cannot be reused.', "You can't reuse nodes.", true],
  ['At most 8.', 'A frame carries at most eight data bytes.', true],
  ['At most 8.', 'A frame carries at most 64 data bytes.', false],
  ['1,500 ms', 'The timeout is 1500 ms.', true],
  ['Yes', 'Yes, it does.', true],
  ['Yes', 'No, it does not.', false],
  ['Yes', 'It does.', null],
  ['Paris', 'Berlin is the capital.', false],
  ['A node publishes messages on a topic.', 'Messages travel from publishers to subscribers.', null],
  [
    'Quality of service decides delivery. Depth is 10.',
    'Quality of service decides the delivery; the depth is 10.',
    true,
  ],
])('an answer that should say %j and says %j is correct: %j', (expected, answer, correct) => {
  const gold = createGold({ answers: [expected] });
  expect(isCorrect(createRun({ answer }), gold)).toBe(correct);
  const grade = { correct: true, reason: '', tokens: 1, cost: null };
  expect(isCorrect(createRun({ answer, grade }), gold)).toBe(true);
});

test('answers that cannot be graded do not count', () => {
  const gold = createGold({ answers: ['A node publishes messages on a topic.'] });
  const vague = createRun({ answer: 'Messages travel from publishers to subscribers.' });
  const right = createRun({ answer: 'Nodes publish messages on topics.' });
  expect(measured('answer.correct', [vague, gold], [right, gold])).toBe(1);
  expect(measured('answer.correct', [vague, gold])).toBe('no answer could be graded; use --grade-model');
});
