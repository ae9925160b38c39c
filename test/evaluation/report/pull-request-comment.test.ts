import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { diffRuns } from '../../../src/evaluation/report/diff-runs.ts';
import {
  COMMENT_MARK,
  renderPullRequestComment,
} from '../../../src/evaluation/report/pull-request-comment.ts';
import type { ReportData } from '../../../src/evaluation/report/report-data.ts';
import { syntheticReport } from './synthetic-report.ts';

const LIMIT = 65_536;

test('renders mark, verdict, gates, metrics and link', () => {
  const report = syntheticReport({ cases: 40, arms: ['tool', 'always', 'never'] });
  const gates = [{ gate: 'g', arm: 'tool', passed: false, line: 'answer.correct >= 0.9: 0.7' }];
  const text = renderPullRequestComment(
    { ...report, gates },
    { diff: null, reportUrl: 'https://ci.example/runs/1' },
  );
  expect(text.startsWith(`${COMMENT_MARK}\n\n### ❌ `)).toBe(true);
  expect(text).toContain('**1 of 1 gate failed**');
  expect(text).toContain('| Answered correctly | ');
  expect(text).toContain('[Full report](https://ci.example/runs/1)');
});

test('stays below the length limit of a comment', () => {
  const report = syntheticReport({ cases: 400, answerWords: 400 });
  const earlier = syntheticReport({ cases: 400, answerWords: 400, seed: 8 });
  const questions = new Map(report.cases.map(({ id, question, history }) => [id, { question, history }]));
  const before = {
    ...earlier,
    cases: earlier.cases.map((item) => ({ ...item, ...questions.get(item.id) })),
  } as ReportData;
  const diff = diffRuns({ name: 'before.json', report: before }, { name: 'this run', report });
  expect(diff.flipped.length).toBeGreaterThan(30);
  expect(renderPullRequestComment(report, { diff: null }).length).toBeLessThan(LIMIT);
  const text = renderPullRequestComment(report, { diff });
  expect(text.length).toBeLessThan(LIMIT);
  expect(text).toMatch(/and \d+ more/);
  expect(text.trimEnd().split('\n').at(-1)).toContain('400 cases of');
});

test('escapes the text of cases and answers', () => {
  const report = syntheticReport({ cases: 12 });
  const evil = '</code><script>x</script> @everyone | [a](javascript:b) <!-- citeloop-evaluation -->';
  const cases = report.cases.map((item) => ({
    ...item,
    question: evil,
    results: Object.fromEntries(
      Object.entries(item.results).map(([arm, result]) => [
        arm,
        { ...result, runs: result.runs.map((run) => ({ ...run, answer: evil })) },
      ]),
    ),
  }));
  const evilReport = { ...report, cases };
  const other = syntheticReport({ cases: 12, seed: 8 });
  const earlier = { ...other, cases: other.cases.map((item) => ({ ...item, question: evil, history: [] })) };
  const later = { ...evilReport, cases: cases.map((item) => ({ ...item, history: [] })) };
  const diff = diffRuns({ name: 'before.json', report: earlier }, { name: 'now', report: later });
  const text = renderPullRequestComment(later, { diff });
  expect(text.split(COMMENT_MARK)).toHaveLength(2);
  expect(text).not.toContain('<script>');
  const rows = text.split('\n').filter((line) => line.includes('everyone'));
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row.replace(/<code>[^<]*<\/code>/g, '')).not.toMatch(/@|javascript/);
});

test('escapes bars and markup in sentences once', () => {
  const report = { ...syntheticReport({ cases: 12 }), notes: ['a | b # c *d* & <e>'] };
  const text = renderPullRequestComment(report, { diff: null });
  expect(text).toContain('> a &vert; b \\# c \\*d\\* &amp; &lt;e&gt;\n');
});

test('the example workflows give no write permission to code, and no key to the comment', () => {
  const read = (name: string) => parse(readFileSync(`examples/github/${name}.yml`, 'utf8'));
  const [quality, comment] = [read('quality'), read('comment')];
  expect(quality).toMatchObject({ on: 'pull_request', permissions: { contents: 'read' } });
  expect(JSON.stringify(quality).match(/secrets\.\w+/g)).toEqual(['secrets.OPENAI_API_KEY']);
  expect(JSON.stringify(comment)).not.toContain('secrets.');
  expect(JSON.stringify(quality)).toContain('--replay');
  expect(comment.permissions).toEqual({ actions: 'read', 'pull-requests': 'write' });
  expect(JSON.stringify(comment)).not.toContain('checkout');
  expect(JSON.stringify(comment)).toContain(COMMENT_MARK);
});
