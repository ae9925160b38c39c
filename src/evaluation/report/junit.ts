import { oneLine } from '../../text/visible-text.ts';
import type { CaseResult, ReportCase } from './report-case.ts';
import type { ReportData } from './report-data.ts';

const CORRECT = 'answer.correct';

/** The report for build servers: a suite an arm with a test a case, and one of the gates. */
export function renderJunit(data: ReportData): string {
  const suites = data.arms.map(({ name }) =>
    suite(
      name,
      data.cases.map((item) => testOf(item, item.results[name], name)),
    ),
  );
  if (data.gates.length > 0) {
    const tests = data.gates.map(({ gate, arm, passed, line }) => ({
      outcome: passed ? ('passed' as const) : ('failure' as const),
      xml: element(
        'testcase',
        { classname: 'gates', name: `${arm}: ${line}` },
        passed ? '' : fault('failure', line, gate),
      ),
      seconds: 0,
    }));
    suites.push(suite('gates', tests));
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="citeloop">\n${suites.join('\n')}\n</testsuites>\n`;
}

interface Test {
  outcome: 'passed' | 'failure' | 'error' | 'skipped';
  xml: string;
  seconds: number;
}

function testOf(item: ReportCase, result: CaseResult | undefined, arm: string): Test {
  const runs = result?.runs ?? [];
  const seconds = runs.reduce((sum, { timesMs }) => sum + timesMs.total, 0) / 1000;
  const correct = result?.metrics[CORRECT] ?? null;
  const failed = runs.find(({ error }) => error !== null)?.error;
  const outcome = failed ? 'error' : correct === null ? 'skipped' : correct > 0.5 ? 'passed' : 'failure';
  const details = [`Question: ${item.question}`, `Answer: ${runs[0]?.answer ?? ''}`, expectation(item)].join(
    '\n',
  );
  const child = {
    passed: '',
    skipped: '<skipped message="the case does not say what is right"/>',
    error: fault('error', failed?.message ?? '', details),
    failure: fault('failure', expectation(item), details),
  }[outcome];
  return {
    outcome,
    seconds,
    xml: element('testcase', { classname: arm, name: item.id, time: seconds.toFixed(3) }, child),
  };
}

function expectation({ answerable, expected }: ReportCase): string {
  if (answerable === false) return 'Expected: that the documents do not hold the answer';
  const { phrases, answers, sources, chunks } = expected;
  const [what] = [phrases, answers, sources, chunks].filter((list) => list.length > 0);
  return `Expected: ${(what ?? []).join('; ')}`;
}

function suite(name: string, tests: readonly Test[]): string {
  const count = (outcome: Test['outcome']) => String(tests.filter((test) => test.outcome === outcome).length);
  const seconds = tests.reduce((sum, test) => sum + test.seconds, 0);
  const attributes = {
    name,
    tests: String(tests.length),
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds.toFixed(3),
  };
  return element('testsuite', attributes, `\n${tests.map(({ xml }) => xml).join('\n')}\n`);
}

function fault(name: string, message: string, details: string): string {
  return element(name, { message: oneLine(message, 300) }, escaped(details));
}

function element(name: string, attributes: Record<string, string>, content: string): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(value).replace(/\n/g, '&#10;')}"`,
  );
  return content === ''
    ? `<${name}${written.join('')}/>`
    : `<${name}${written.join('')}>${content}</${name}>`;
}

/** XML holds no control characters, not even escaped, and no half of a surrogate pair. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}
