import { createHash } from 'node:crypto';
import { armsSection } from './page/arms-section.ts';
import { calibrationSection } from './page/calibration-section.ts';
import { casesSection } from './page/cases-section.ts';
import { differencesSection } from './page/differences-section.ts';
import { embedData } from './page/embed-data.ts';
import { gatesSection } from './page/gates-section.ts';
import { escapeHtml } from './page/html.ts';
import { makingSection } from './page/making-section.ts';
import { scatterSection } from './page/scatter-section.ts';
import { DATA_ID, pageScript, themeScript } from './page/script/page-script.ts';
import { stylesheet } from './page/styles/stylesheet.ts';
import { fileName, verdictSection } from './page/verdict-section.ts';
import type { ReportData } from './report-data.ts';

/**
 * A report as one page that needs nothing else: no network, no other file. All that it shows is untrusted, so
 * it is escaped here and text there, and the page's policy runs no script and applies no style but its own.
 */
export function renderReport(data: ReportData): string {
  const { json, shortened } = embedData(data);
  const style = stylesheet();
  const [early, late] = [themeScript(), pageScript()];
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(early)} ${hashOf(late)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const isComparison = data.arms.length > 1;
  const links = [
    ['arms', isComparison ? 'Arms' : 'Metrics'],
    ...(isComparison
      ? [
          ['cost', 'Cost and quality'],
          ['differences', 'Differences'],
        ]
      : []),
    ['cases', 'Cases'],
    ['threshold', 'Threshold'],
    ['gates', 'Gates'],
    ['making', 'How it was made'],
  ];
  const sections = [
    armsSection(data),
    scatterSection(data),
    differencesSection(data),
    casesSection(data, shortened),
    calibrationSection(data),
    gatesSection(data),
    makingSection(data),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(`${data.arms.map(({ name }) => name).join(', ')} on ${fileName(data.header.casesFile)}: citeloop ${data.kind}`)}</title>
<style>${style}</style>
<script>${early}</script>
</head>
<body>
<a class="skip" href="#verdict">Skip to the verdict</a>
<header class="top"><span class="brand">citeloop</span><nav aria-label="Sections">${links
    .map(([id, name]) => `<a href="#${id}">${name}</a>`)
    .join('')}</nav><button type="button" id="theme" hidden>Dark</button></header>
<main>
${verdictSection(data).markup}${sections.map((part) => part?.markup ?? '').join('')}</main>
<footer><p>Made by citeloop ${escapeHtml(data.header.version)} on ${escapeHtml(data.header.date.slice(0, 10))}. This page is one file and asks nothing of any network.</p></footer>
<script type="application/json" id="${DATA_ID}">${json}</script>
<script>${late}</script>
</body>
</html>
`;
}

function hashOf(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}
