import { render } from 'preact';
import type { PageData } from '../../evaluation/report/page-data.ts';
import { applyTheme } from '../shared/theme.ts';
import { Report } from './report.tsx';
import '../shared/base.css';
import './report.css';
import './tables.css';
import './cases.css';

// The script stands in the head: the theme is there before anything is drawn, the data after the script.
applyTheme();
addEventListener('DOMContentLoaded', () => {
  const root = document.getElementById('report');
  const json = document.getElementById('report-data')?.textContent;
  if (root === null || json == null) return;
  render(<Report data={JSON.parse(json) as PageData} />, root);
});
