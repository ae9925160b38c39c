import { counted, quoted } from '../../text/phrasing.ts';
import { visibleText } from '../../text/visible-text.ts';
import { headlineComparison } from './decide.ts';
import {
  type AnswerState,
  type FlippedCase,
  formatFlips,
  formatSettingChanges,
  type RunDiff,
} from './diff-runs.ts';
import { formatP, formatValue, knownValue } from './format-value.ts';
import { gatesFailed, summarizeGates } from './gate-results.ts';
import type { ReportData } from './report-data.ts';
import { findingOf } from './verdict.ts';

/** Identifies the comment, so that a later run replaces it. */
export const COMMENT_MARK = '<!-- citeloop-evaluation -->';

/** GitHub limits a comment to 65,536 characters. */
const MAX_COMMENT_LENGTH = 60_000;
const MAX_FLIPPED_CASES = 50;
const MAX_TEXT_LENGTH = 240;

const TABLE_METRICS = [
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
  /** Changes since the baseline; null without one. */
  diff: RunDiff | null;
  /** Link to the HTML report. */
  reportUrl?: string | undefined;
}

/**
 * A pull request comment: verdict, gates, metrics and flipped cases, within the length limit of GitHub. Text of cases
 * and answers is shown as code, so that it cannot contain links, mentions or markup.
 */
export function renderMarkdown(report: ReportData, { diff, reportUrl }: MarkdownOptions): string {
  const { verdict, notes, gates, header } = report;
  const failure = gatesFailed(gates);
  const gateLines = summarizeGates(gates).map(
    ({ passed, arm, line }) => `- ${passed ? '✅' : '❌'} ${renderCode(arm)} ${renderCode(line)}`,
  );
  const top = [
    COMMENT_MARK,
    `### ${failure === null ? '' : '❌ '}${escapeMarkdown(findingOf(report))}`,
    ...verdict.map(escapeMarkdown),
    ...(gates.length > 0 ? [`**${failure ?? 'All gates passed'}**`, gateLines.join('\n')] : []),
    renderMetrics(report),
    ...(diff === null ? [] : [formatFlips(diff), formatSettingChanges(diff)].map(escapeMarkdown)),
  ];
  const bottom = [
    ...notes.map((note) => `> ${escapeMarkdown(note)}`),
    [
      ...(reportUrl === undefined ? [] : [`[Full report](${encodeURI(reportUrl)})`]),
      `${counted(header.cases, 'case')} of ${renderCode(header.casesFile)}, ${header.totals.tokens} tokens, ${escapeMarkdown(header.models.join(', '))}, citeloop ${header.version}`,
    ].join(' · '),
  ];
  const flips =
    diff === null ? listFlips(report) : [{ title: `since ${diff.before.run}`, flipped: diff.flipped }];
  const space = MAX_COMMENT_LENGTH - [...top, ...bottom].join('\n\n').length;
  const text = [...top, ...renderFlips(flips, space), ...bottom].join('\n\n');
  // Hundreds of arms or gates could still exceed the limit.
  return `${text.length <= MAX_COMMENT_LENGTH ? text : `${text.slice(0, MAX_COMMENT_LENGTH)}…`}\n`;
}

function renderMetrics({ arms, metrics, comparisons }: ReportData): string {
  const rows = TABLE_METRICS.flatMap((id) => {
    const info = metrics.find((metric) => metric.id === id);
    if (info === undefined || arms.every((arm) => knownValue(arm.metrics[id]) === null)) return [];
    const cells = arms.map((arm) => {
      const value = knownValue(arm.metrics[id]);
      if (value === null) return 'no data';
      const compared = comparisons
        .find((one) => one.arm === arm.name)
        ?.metrics.find(({ metric }) => metric === id);
      const mark = { better: ' ▲', worse: ' ▼' }[compared?.conclusion as string];
      const proof = mark === undefined ? '' : `${mark} (${formatP(compared?.adjustedP ?? null)})`;
      return `${formatValue(value.value, info.unit)}${proof}`;
    });
    return [`| ${info.label} | ${cells.join(' | ')} |`];
  });
  const head = `| | ${arms.map(({ name }) => renderCode(name)).join(' | ')} |`;
  return [head, `|---|${arms.map(() => '--:|').join('')}`, ...rows].join('\n');
}

/** The flipped cases of a pair of arms or runs. */
interface FlipList {
  title: string;
  flipped: readonly FlippedCase[];
}

function listFlips({ comparisons, cases }: ReportData): FlipList[] {
  const byId = new Map(cases.map((item) => [item.id, item]));
  return comparisons.map(({ arm, baseline, metrics }) => {
    const headline = headlineComparison(metrics);
    const toFlip = (id: string, before: AnswerState, after: AnswerState): FlippedCase => {
      const item = byId.get(id);
      const answerOf = (name: string) => item?.results[name]?.runs[0]?.answer ?? '';
      return {
        id,
        question: item?.question ?? '',
        before: { state: before, answer: answerOf(baseline) },
        after: { state: after, answer: answerOf(arm) },
      };
    };
    const flipped = [
      ...(headline?.worse ?? []).map((id) => toFlip(id, 'right', 'wrong')),
      ...(headline?.better ?? []).map((id) => toFlip(id, 'wrong', 'right')),
    ];
    return { title: `from ${quoted(baseline)} to ${quoted(arm)}`, flipped };
  });
}

/** One table per list, which share the space evenly. */
function renderFlips(lists: readonly FlipList[], space: number): string[] {
  const filled = lists.filter(({ flipped }) => flipped.length > 0);
  let left = space;
  return filled.flatMap(({ title, flipped }, index) => {
    const limit = Math.floor(left / (filled.length - index));
    const head = `<details><summary>${counted(flipped.length, 'flipped case')} ${escapeHtml(title)}</summary>\n\n| case | before | after | question | answer |\n|---|---|---|---|---|\n`;
    const renderEnd = (more: number) => `${more > 0 ? `\nand ${more} more\n` : ''}\n</details>`;
    let rows = '';
    let shown = 0;
    for (const { id, question, before, after } of flipped.slice(
      0,
      Math.ceil(MAX_FLIPPED_CASES / filled.length),
    )) {
      const sign = after.state === 'right' ? '✅' : '❌';
      const row = `| ${sign} ${renderCode(id)} | ${before.state} | ${after.state} | ${renderCode(question)} | ${renderCode(after.answer)} |\n`;
      if (head.length + rows.length + row.length + renderEnd(flipped.length).length + 4 > limit) break;
      rows += row;
      shown += 1;
    }
    if (shown === 0) return [];
    const table = `${head}${rows}${renderEnd(flipped.length - shown)}`;
    left -= table.length + 2;
    return [table];
  });
}

/** For our own sentences, which may contain names of arms and cases. */
function escapeMarkdown(text: string): string {
  return escapeHtml(text).replace(/[\\`*_[\]#~@]/g, (sign) => (sign === '@' ? '@\u2060' : `\\${sign}`));
}

function renderCode(text: string): string {
  const shown = visibleText(text).replace(/\s+/g, ' ').trim();
  return `<code>${escapeHtml(shown.length > MAX_TEXT_LENGTH ? `${shown.slice(0, MAX_TEXT_LENGTH - 1)}…` : shown)}</code>`;
}

function escapeHtml(text: string): string {
  return visibleText(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\|/g, '&#124;')
    .replace(/\n/g, ' ');
}
