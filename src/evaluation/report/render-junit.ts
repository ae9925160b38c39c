import { oneLine } from '../../text/visible-text.ts';
import { HEADLINE_METRIC } from '../statistics/compare-columns.ts';
import type { CaseResult, GateResult, ReportCase, ReportData } from './report-data.ts';

interface JunitTest {
  outcome: 'passed' | 'failure' | 'error' | 'skipped';
  xml: string;
  seconds: number;
}

/** JUnit XML: a suite per arm with a test per case, and a suite of the gates. */
export function renderJunit({ arms, cases, gates }: ReportData): string {
  const suites = arms.map(({ name }) =>
    renderSuite(
      name,
      cases.map((item) => toCaseTest(item, item.results[name], name)),
    ),
  );
  if (gates.length > 0) suites.push(renderSuite('gates', gates.map(toGateTest)));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="citeloop">\n${suites.join('\n')}\n</testsuites>\n`;
}

function toCaseTest(item: ReportCase, result: CaseResult | undefined, arm: string): JunitTest {
  const runs = result?.runs ?? [];
  const seconds = runs.reduce((sum, { timesMs }) => sum + timesMs.total, 0) / 1000;
  const correct = result?.metrics[HEADLINE_METRIC] ?? null;
  const error = runs.find((run) => run.error !== null)?.error;
  const outcome = error ? 'error' : correct === null ? 'skipped' : correct > 0.5 ? 'passed' : 'failure';
  const expected = formatExpectation(item);
  const details = `Question: ${item.question}\nAnswer: ${runs[0]?.answer ?? ''}\n${expected}`;
  const content = {
    passed: '',
    skipped: '<skipped message="the case has no gold"/>',
    error: renderProblem('error', error?.message ?? '', details),
    failure: renderProblem('failure', expected, details),
  }[outcome];
  const attributes = { classname: arm, name: item.id, time: seconds.toFixed(3) };
  return { outcome, seconds, xml: renderElement('testcase', attributes, content) };
}

function toGateTest({ gate, arm, passed, line }: GateResult): JunitTest {
  const content = passed ? '' : renderProblem('failure', line, gate);
  const xml = renderElement('testcase', { classname: 'gates', name: `${arm}: ${line}` }, content);
  return { outcome: passed ? 'passed' : 'failure', xml, seconds: 0 };
}

function formatExpectation({ answerable, expected }: ReportCase): string {
  if (answerable === false) return 'Expected: an abstention';
  const { phrases, answers, sources, chunks } = expected;
  const given = [phrases, answers, sources, chunks].find((list) => list.length > 0) ?? [];
  return `Expected: ${given.join('; ')}`;
}

function renderSuite(name: string, tests: readonly JunitTest[]): string {
  const countOf = (outcome: JunitTest['outcome']) =>
    String(tests.filter((test) => test.outcome === outcome).length);
  const seconds = tests.reduce((sum, test) => sum + test.seconds, 0);
  const attributes = {
    name,
    tests: String(tests.length),
    failures: countOf('failure'),
    errors: countOf('error'),
    skipped: countOf('skipped'),
    time: seconds.toFixed(3),
  };
  return renderElement('testsuite', attributes, `\n${tests.map(({ xml }) => xml).join('\n')}\n`);
}

function renderProblem(name: 'failure' | 'error', message: string, details: string): string {
  return renderElement(name, { message: oneLine(message, 300) }, escapeXml(details));
}

function renderElement(name: string, attributes: Record<string, string>, content: string): string {
  const list = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escapeXml(value).replace(/\n/g, '&#10;')}"`,
  );
  return `<${name}${list.join('')}${content === '' ? '/>' : `>${content}</${name}>`}`;
}

/** XML allows neither control characters, even escaped, nor lone surrogates. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}
