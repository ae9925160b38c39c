import type { ReportData } from '../report-data.ts';
import { type Html, html } from './html.ts';
import { joined } from './numbers.ts';

/** What was found, before all else, in sentences. */
export function verdictSection({ kind, header, arms, verdict, notes, gates }: ReportData): Html {
  const [lead = '', ...others] = verdict;
  const names = joined(arms.map(({ name }) => name));
  const failed = gates.filter(({ passed }) => !passed).length;
  return html`<section id="verdict" aria-labelledby="verdict-title" class="verdict">
<p class="kicker">${kind === 'comparison' ? 'Comparison' : 'Evaluation'} · ${header.cases} ${header.cases === 1 ? 'case' : 'cases'} of ${fileName(header.casesFile)} · ${joined(header.models)}</p>
<h1 id="verdict-title">${names}</h1>
<p class="lead">${lead}</p>
${others.length > 0 && html`<ul class="findings">${others.map((sentence) => html`<li>${sentence}</li>`)}</ul>`}
${
  failed > 0 &&
  html`<p class="callout"><strong>✗ ${failed} of ${gates.length} ${gates.length === 1 ? 'gate' : 'gates'} failed.</strong> <a href="#gates">Which</a></p>`
}
${notes.length > 0 && html`<aside class="callout" aria-label="Before you trust the numbers"><strong>Before you trust the numbers</strong><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul></aside>`}
</section>
`;
}

export function fileName(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? path;
}
