import { render } from 'preact';
import type { ReportData } from '../../evaluation/report/report-data.ts';
import { applyTheme } from '../shared/theme.ts';
import { ReportPage } from './report-page.tsx';
import '../shared/base.css';
import './report.css';
import './tables.css';
import './cases.css';

// The script runs in the head, before the page is drawn; the data follows in the body.
applyTheme();
addEventListener('DOMContentLoaded', async () => {
  const root = document.getElementById('report');
  const encoded = document.getElementById('report-data')?.textContent;
  if (root === null || encoded == null) return;
  render(<ReportPage data={await decodeReport(encoded)} />, root);
});

/** Base64 of gzipped JSON. Fetching a data: URL would be shorter, but the content policy forbids it. */
async function decodeReport(encoded: string): Promise<ReportData> {
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(json).json();
}
