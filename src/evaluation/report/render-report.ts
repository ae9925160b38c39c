import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../faults/app-error.ts';
import { visibleText } from '../../text/visible-text.ts';
import { embedData } from './embed-data.ts';
import { formatValue, knownValue } from './format-value.ts';
import type { MetricInfo } from './metric-value.ts';
import type { ReportData } from './report-data.ts';
import { findingOf } from './verdict.ts';

/** The page as it was built: what runs in it and how it looks. */
interface ReportAssets {
  script: string;
  style: string;
}

/** Reads what was built into a directory. Throws `configuration_error` where it was not. */
export async function readReportAssets(directory: string): Promise<ReportAssets> {
  try {
    const read = (name: string) => readFile(join(directory, name), 'utf8');
    return { script: await read('report.js'), style: await read('report.css') };
  } catch (cause) {
    throw new AppError('configuration_error', 'The page of the report is not part of this installation.', {
      hint: 'Build it with: npm run build',
      cause,
    });
  }
}

/** A report as one page that needs nothing else: no network, no other file. */
export function renderReport(report: ReportData, { script, style }: ReportAssets): string {
  return renderPage({
    title: findingOf(report),
    style,
    script,
    body: `<div id="report"></div>
<noscript>${withoutScript(report).markup}</noscript>
<script type="application/json" id="report-data">${embedData(report)}</script>`,
  });
}

interface Page {
  title: string;
  style: string;
  /** Null for a page that stands by itself. */
  script: string | null;
  /** Markup whose every text is escaped. */
  body: string;
}

/**
 * A page that needs no network and no other file. All that it shows is untrusted: data is text to the script, what
 * stands there without a script is escaped, and the page's policy runs no script and applies no style but its own.
 */
export function renderPage({ title, style, script, body }: Page): string {
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    ...(script === null ? [] : [`script-src ${hashOf(script)}`]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // The script stands in the head, so that the page never flashes in the wrong theme; it waits for the data itself.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
${html`<title>${title} · citeloop</title>`.markup}
<style>${style}</style>${script === null ? '' : `\n<script>${script}</script>`}
</head>
<body>
${body}
</body>
</html>
`;
}

function hashOf(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}

/** What was found and the numbers behind it, for who does not let pages run scripts. */
function withoutScript(report: ReportData): Html {
  const { verdict, notes, arms, metrics } = report;
  return html`<main><section class="verdict"><h1>${findingOf(report)}</h1>
<ul class="findings">${[...verdict, ...notes].map((sentence) => html`<li>${sentence}</li>`)}</ul>
<p class="callout">The plots and the cases are drawn by a script in this page; it needs scripts to be allowed.</p></section>
<div class="scroll"><table class="metrics"><caption>Metrics by arm</caption>
<thead><tr><th scope="col">Metric</th>${arms.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${metrics.map(
    (metric) =>
      html`<tr><th scope="row">${metric.label}</th>${arms.map((arm) => html`<td class="number">${plainValue(metric, arm)}</td>`)}</tr>
`,
  )}</tbody></table></div></main>`;
}

function plainValue({ id, unit }: MetricInfo, { metrics }: ReportData['arms'][number]): string {
  const value = knownValue(metrics[id]);
  return value === null ? 'no data' : formatValue(value.value, unit);
}

/** Markup that was made here, as opposed to text, which is escaped. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | null | undefined | false | readonly Part[];

/** A template whose every part is escaped, unless it was made by this very function. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = pieces.reduce((made, piece, index) => made + markupOf(parts[index - 1]) + piece);
  return { markup };
}

function markupOf(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return escapeHtml(part);
  return 'markup' in part ? part.markup : part.map(markupOf).join('');
}

/** Safe between tags and inside quoted attributes; without control characters and marks that reorder text. */
export function escapeHtml(text: string): string {
  return visibleText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
