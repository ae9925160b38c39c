import { formatCount } from '../../text/format-count.ts';
import { visibleText } from '../../text/visible-text.ts';
import { formatFlips, formatSettingChanges, type RunDiff } from './diff-runs.ts';
import { formatFailedGates, formatMetricValue, formatPValue, toKnownValue } from './format-metric.ts';
import { formatFinding } from './format-verdict.ts';
import type { ReportData } from './report-data.ts';

/** Identifies the comment, so that a later run replaces it. */
export const COMMENT_MARK = '<!-- citeloop-evaluation -->';

/** GitHub limits a comment to 65,536 characters. */
const MAX_COMMENT_LENGTH = 60_000;
const MAX_FLIPPED_CASES = 30;
const MAX_UNRECORDED_CASES = 50;
const MAX_TEXT_LENGTH = 160;

interface CommentOptions {
  /** Changes since the baseline; null without one. */
  diff: RunDiff | null;
  /** Link to the HTML report. */
  reportUrl?: string | undefined;
}

/**
 * A pull request comment within the length limit of GitHub: verdict, gates, metrics, and cases flipped since the
 * baseline. Text of cases and answers is shown as code, so that it cannot contain links, mentions or markup.
 */
export function renderPullRequestComment(report: ReportData, { diff, reportUrl }: CommentOptions): string {
  const unrecorded = findUnrecordedCases(report);
  if (unrecorded.length > 0) return renderUnrecorded(unrecorded, report);
  const { verdict, notes, gates, header } = report;
  const failure = formatFailedGates(gates);
  const gateLines = gates.map(
    ({ passed, arm, line }) => `- ${passed ? '✅' : '❌'} ${renderCode(arm)} ${renderCode(line)}`,
  );
  const top = [
    COMMENT_MARK,
    `### ${failure === null ? '' : '❌ '}${escapeMarkdown(formatFinding(report))}`,
    ...verdict.map(escapeMarkdown),
    ...(gates.length > 0 ? [`**${failure ?? 'All gates passed'}**`, gateLines.join('\n')] : []),
    renderMetrics(report),
    ...(diff === null ? [] : [formatFlips(diff), formatSettingChanges(diff)].map(escapeMarkdown)),
  ];
  const bottom = [
    ...notes.map((note) => `> ${escapeMarkdown(note)}`),
    [
      ...(reportUrl === undefined ? [] : [`[Full report](${encodeURI(reportUrl)})`]),
      `${formatCount(header.cases, 'case')} of ${renderCode(header.casesFile)}, ${header.totals.tokens} tokens, ${escapeMarkdown(header.models.join(', '))}, citeloop ${header.version}`,
    ].join(' · '),
  ];
  const text = [...top, ...(diff === null ? [] : renderFlips(diff)), ...bottom].join('\n\n');
  // Hundreds of arms or gates could still exceed the limit.
  return `${text.length <= MAX_COMMENT_LENGTH ? text : `${text.slice(0, MAX_COMMENT_LENGTH)}…`}\n`;
}

/** The cases with a request that is not on the tape. */
export function findUnrecordedCases({ cases }: Pick<ReportData, 'cases'>): string[] {
  const isMissing = ({ results }: ReportData['cases'][number]) =>
    Object.values(results).some(({ runs }) => runs.some(({ error }) => error?.errorType === 'replay_drift'));
  return cases.filter(isMissing).map(({ id }) => id);
}

/** Without metrics, because answers are missing. */
function renderUnrecorded(ids: readonly string[], { header, kind }: ReportData): string {
  const command = `citeloop ${kind === 'evaluation' ? 'eval' : 'compare'} ${header.casesFile} --replay <tape> --on-miss record`;
  const listed = ids.slice(0, MAX_UNRECORDED_CASES).map((id) => `- ${renderCode(id)}`);
  const more = ids.length - listed.length;
  return `${[
    COMMENT_MARK,
    `### ❌ ${ids.length} of ${formatCount(header.cases, 'case')} need a new recording`,
    'This change sends requests that are not on the tape, so these cases cannot be replayed:',
    [...listed, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n'),
    `Record them with a key and commit the tape. Only the changed requests are sent: ${renderCode(command)} with the flags of this run.`,
  ].join('\n\n')}\n`;
}

function renderMetrics({ arms, metrics, comparisons }: ReportData): string {
  const rows = metrics.flatMap(({ id, label, unit }) => {
    if (arms.every((arm) => toKnownValue(arm.metrics[id]) === null)) return [];
    const cells = arms.map((arm) => {
      const value = toKnownValue(arm.metrics[id]);
      if (value === null) return 'no data';
      const compared = comparisons
        .find((one) => one.arm === arm.name)
        ?.metrics.find(({ metric }) => metric === id);
      const mark = { better: ' ▲', worse: ' ▼' }[compared?.conclusion as string];
      const proof = mark === undefined ? '' : `${mark} (${formatPValue(compared?.adjustedP ?? null)})`;
      return `${formatMetricValue(value.value, unit)}${proof}`;
    });
    return [`| ${label} | ${cells.join(' | ')} |`];
  });
  const head = `| | ${arms.map(({ name }) => renderCode(name)).join(' | ')} |`;
  return [head, `|---|${arms.map(() => '--:|').join('')}`, ...rows].join('\n');
}

function renderFlips({ before, flipped }: RunDiff): string[] {
  if (flipped.length === 0) return [];
  const rows = flipped.slice(0, MAX_FLIPPED_CASES).map(({ id, question, before: was, after: is }) => {
    const sign = is.state === 'right' ? '✅' : '❌';
    return `| ${sign} ${renderCode(id)} | ${was.state} | ${is.state} | ${renderCode(question)} | ${renderCode(is.answer)} |`;
  });
  const more = flipped.length - rows.length;
  return [
    `<details><summary>${formatCount(flipped.length, 'flipped case')} since ${escapeHtml(before.run)}</summary>`,
    ['| case | before | after | question | answer |', '|---|---|---|---|---|', ...rows].join('\n'),
    ...(more > 0 ? [`and ${more} more`] : []),
    '</details>',
  ];
}

/** For our own sentences, which may contain names of arms and cases. */
function escapeMarkdown(text: string): string {
  return escapeHtml(text).replace(/[\\`*_[\]#~@]/g, (sign) => (sign === '@' ? '@\u2060' : `\\${sign}`));
}

function renderCode(text: string): string {
  const shown = visibleText(text).replace(/\s+/g, ' ').trim();
  return `<code>${escapeHtml(shown.length > MAX_TEXT_LENGTH ? `${shown.slice(0, MAX_TEXT_LENGTH - 1)}…` : shown)}</code>`;
}

/** No entity contains a sign that `escapeMarkdown` escapes. */
function escapeHtml(text: string): string {
  return visibleText(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\|/g, '&vert;')
    .replace(/\n/g, ' ');
}
