import type { ReportData } from '../report-data.ts';
import { type Html, html } from './html.ts';
import { scrollable, section } from './section.ts';

export function gatesSection({ gates }: ReportData): Html {
  if (gates.length === 0) return section('gates', 'Gates', html`<p class="muted">No gate was set.</p>`);
  const failed = gates.filter(({ passed }) => !passed).length;
  return section(
    'gates',
    'Gates',
    html`<p>${failed === 0 ? `All ${gates.length} passed.` : `${failed} of ${gates.length} failed.`}</p>`,
    scrollable(
      'Gates',
      html`<table class="gates"><caption class="unseen">Gates and what was measured</caption><thead><tr><th scope="col">Result</th><th scope="col">Arm</th><th scope="col">Required and measured</th></tr></thead><tbody>${gates.map(
        ({ passed, arm, line }) =>
          html`<tr><td><span class="badge ${passed ? 'good' : 'bad'}">${passed ? '✓ passed' : '✗ failed'}</span></td><td>${arm}</td><td>${line}</td></tr>`,
      )}</tbody></table>`,
    ),
  );
}
