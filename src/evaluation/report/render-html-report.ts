import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../faults/app-error.ts';
import { visibleText } from '../../text/visible-text.ts';
import { formatFinding } from './format-verdict.ts';
import type { ReportData } from './report-data.ts';

/** The built report page. */
interface ReportAssets {
  script: string;
  style: string;
}

/** Throws `configuration_error` if the page was not built into the directory. */
export async function readReportAssets(directory: string): Promise<ReportAssets> {
  try {
    const read = (name: string) => readFile(join(directory, name), 'utf8');
    return { script: await read('report.js'), style: await read('report.css') };
  } catch (cause) {
    throw new AppError('configuration_error', 'The report page is missing from this installation.', {
      hint: 'Build it with: npm run build',
      cause,
    });
  }
}

/**
 * Renders a report as one HTML file that loads nothing else. All of its content is untrusted: the embedded data is
 * gzipped and base64-encoded, other text is escaped, and the content policy runs only the page's own script.
 */
export function renderHtmlReport(report: ReportData, { script, style }: ReportAssets): string {
  const finding = visibleText(formatFinding(report));
  const policy = [
    "default-src 'none'",
    `style-src ${policyHash(style)}`,
    `script-src ${policyHash(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const sentences = [...report.verdict, ...report.notes].map((text) => `<li>${escapeHtml(text)}</li>`);
  // The script is in the head so that the theme applies before the first paint; it waits for the data.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(finding)} · citeloop</title>
<style>${style}</style>
<script>${script}</script>
</head>
<body>
<div id="report"></div>
<noscript><main><section class="verdict"><h1>${escapeHtml(finding)}</h1>
<ul class="findings">${sentences.join('\n')}</ul>
<p class="callout">Allow JavaScript to see the metrics and the cases.</p></section></main></noscript>
<script type="application/gzip" id="report-data">${encodeReport(report)}</script>
</body>
</html>
`;
}

/** Without control characters and marks that reorder text. */
function encodeReport(report: ReportData): string {
  return gzipSync(JSON.stringify(withoutHiddenText(report))).toString('base64');
}

/** Includes property names, because tags and arm names are keys. */
function withoutHiddenText<T>(value: T): T;
function withoutHiddenText(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(withoutHiddenText);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [visibleText(name), withoutHiddenText(inner)]),
  );
}

function policyHash(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}

/** For text between tags and inside quoted attributes. */
function escapeHtml(text: string): string {
  return visibleText(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
