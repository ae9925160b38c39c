import { counted, quoted } from '../../text/phrasing.ts';
import { visibleText } from '../../text/visible-text.ts';
import type { MetricComparison } from './comparison.ts';
import { answersOf } from './decide.ts';
import type { AnswerState, Flip, RunDiff } from './diff-runs.ts';
import { formatP, formatValue, knownValue } from './format-value.ts';
import { gateLines, gatesFailed } from './gate-lines.ts';
import type { MetricInfo } from './metric-value.ts';
import type { Arm, ReportData } from './report-data.ts';
import { findingOf } from './verdict.ts';
import { sentenceOnDiff, sentenceOnSettings } from './verdict-on-diff.ts';

/** What tells a later comment which earlier one it replaces. */
export const COMMENT_MARK = '<!-- citeloop-evaluation -->';

/** A comment on GitHub holds 65,536 characters. */
const MOST_CHARACTERS = 60_000;
const MOST_FLIPS = 50;
const LONGEST_TEXT = 240;

/** What stands in the table: what people ask of first. The rest is in the report. */
const SHOWN = [
  'answer.correct',
  'repeat.pass_all_k',
  'repeat.flaky',
  'retrieval.recall@5',
  'citation.precision',
  'abstention.precision',
  'abstention.recall',
  'decision.over',
  'decision.under',
  'judge.faithfulness',
  'cost.tokens',
  'cost.money',
  'time.total',
];

interface MarkdownOptions {
  /** What changed since an earlier run; null without one. */
  diff: RunDiff | null;
  /** Where the whole report can be seen. */
  reportUrl?: string | undefined;
}

/**
 * The report as one comment on a pull request: verdict, gates, table, the cases that flipped. It stays below what a
 * comment may hold, and begins with a mark by which the next one finds and replaces it. Whatever cases and answers
 * say is shown as code, where it is no link, no mention and no markup.
 */
export function renderMarkdown(report: ReportData, { diff, reportUrl }: MarkdownOptions): string {
  const { verdict, notes, gates, header } = report;
  const failure = gatesFailed(gates);
  const link = reportUrl === undefined ? [] : [`[The whole report](${encodeURI(reportUrl)})`];
  const before = [
    COMMENT_MARK,
    `### ${failure === null ? '' : '❌ '}${plain(findingOf(report))}`,
    ...verdict.map(plain),
    ...(gates.length > 0 ? [`**${failure ?? 'All gates hold'}**`, list(gateLines(gates).map(gateLine))] : []),
    metricsTable(report),
    ...(diff === null ? [] : [plain(sentenceOnDiff(diff)), plain(sentenceOnSettings(diff))]),
  ];
  const after = [
    ...notes.map((note) => `> ${plain(note)}`),
    [
      ...link,
      `${counted(header.cases, 'case')} of ${code(header.casesFile)}, ${header.totals.tokens} tokens, ${plain(header.models.join(', '))}, citeloop ${header.version}`,
    ].join(' · '),
  ];
  const room = MOST_CHARACTERS - [...before, ...after].join('\n\n').length;
  const pairs =
    diff === null ? flipsOf(report) : [{ title: `since ${diff.before.run}`, flipped: diff.flipped }];
  const text = [...before, ...flipsTables(pairs, room), ...after].join('\n\n');
  // Hundreds of arms or gates would still be too much.
  return `${text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`}\n`;
}

function gateLine({ passed, arm, line }: ReturnType<typeof gateLines>[number]): string {
  return `${passed ? '✅' : '❌'} ${code(arm)} ${code(line)}`;
}

function metricsTable({ arms, metrics, comparisons }: ReportData): string {
  const rows = SHOWN.flatMap((id) => {
    const info = metrics.find((metric) => metric.id === id);
    if (info === undefined || arms.every((arm) => knownValue(arm.metrics[id]) === null)) return [];
    const cells = arms.map((arm) => {
      const compared = comparisons
        .find((one) => one.arm === arm.name)
        ?.metrics.find(({ metric }) => metric === id);
      return cellOf(arm, info, compared);
    });
    return [`| ${info.label} | ${cells.join(' | ')} |`];
  });
  return [
    `| | ${arms.map(({ name }) => code(name)).join(' | ')} |`,
    `|---|${arms.map(() => '--:|').join('')}`,
    ...rows,
  ].join('\n');
}

function cellOf(arm: Arm, { id, unit }: MetricInfo, compared: MetricComparison | undefined): string {
  const value = knownValue(arm.metrics[id]);
  if (value === null) return 'no data';
  const sign = compared?.conclusion === 'better' ? ' ▲' : compared?.conclusion === 'worse' ? ' ▼' : '';
  const proof = sign === '' ? '' : ` (${formatP(compared?.adjustedP ?? null)})`;
  return `${formatValue(value.value, unit)}${sign}${proof}`;
}

/** What flipped between two arms, or two runs. */
interface Flips {
  title: string;
  flipped: readonly Flip[];
}

/** Where each arm parts from the first. */
function flipsOf({ comparisons, cases }: ReportData): Flips[] {
  const byId = new Map(cases.map((item) => [item.id, item]));
  return comparisons.flatMap(({ arm, baseline, metrics }): Flips[] => {
    const headline = answersOf(metrics);
    if (headline === undefined) return [];
    const flip = (id: string, [was, is]: [AnswerState, AnswerState]): Flip => {
      const item = byId.get(id);
      const answerOf = (name: string) => item?.results[name]?.runs[0]?.answer ?? '';
      return {
        id,
        question: item?.question ?? '',
        before: { state: was, answer: answerOf(baseline) },
        after: { state: is, answer: answerOf(arm) },
      };
    };
    const flipped = [
      ...headline.worse.map((id) => flip(id, ['right', 'wrong'])),
      ...headline.better.map((id) => flip(id, ['wrong', 'right'])),
    ];
    return [{ title: `from ${quoted(baseline)} to ${quoted(arm)}`, flipped }];
  });
}

/** The cases of each pair that flipped, as many as there is room for: every pair gets its part of it. */
function flipsTables(pairs: readonly Flips[], room: number): string[] {
  const flipping = pairs.filter(({ flipped }) => flipped.length > 0);
  let left = room;
  return flipping.flatMap((pair, index) => {
    const others = flipping.length - index;
    const table = flipsTable(pair, Math.floor(left / others), Math.ceil(MOST_FLIPS / flipping.length));
    left -= (table?.length ?? 0) + 2;
    return table ?? [];
  });
}

/** As many of the cases as there is room for; null without any. */
function flipsTable({ title, flipped }: Flips, room: number, most: number): string | null {
  const head = `<details><summary>${counted(flipped.length, 'case')} flipped ${escaped(title)}</summary>\n\n| case | was | is | question | answer now |\n|---|---|---|---|---|\n`;
  const end = (left: number) => `${left > 0 ? `\nand ${left} more\n` : ''}\n</details>`;
  let rows = '';
  let shown = 0;
  for (const { id, question, before, after } of flipped.slice(0, most)) {
    const sign = after.state === 'right' ? '✅' : '❌';
    const row = `| ${sign} ${code(id)} | ${before.state} | ${after.state} | ${code(question)} | ${code(after.answer)} |\n`;
    if (head.length + rows.length + row.length + end(flipped.length).length + 4 > room) break;
    rows += row;
    shown += 1;
  }
  return shown === 0 ? null : `${head}${rows}${end(flipped.length - shown)}`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** A sentence of ours, in which names of arms and cases may stand. */
function plain(text: string): string {
  return escaped(text).replace(/[\\`*_[\]#~@]/g, (sign) => (sign === '@' ? '@\u2060' : `\\${sign}`));
}

function code(text: string): string {
  const shown = visibleText(text).replace(/\s+/g, ' ').trim();
  return `<code>${escaped(shown.length > LONGEST_TEXT ? `${shown.slice(0, LONGEST_TEXT - 1)}…` : shown)}</code>`;
}

function escaped(text: string): string {
  return visibleText(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\|/g, '&#124;')
    .replace(/\n/g, ' ');
}
