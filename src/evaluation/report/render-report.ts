import { formatValue } from './format-value.ts';
import type { MetricValue, ReportData } from './report-data.ts';

/** The report as one page that needs nothing else: the verdict and every metric of every arm. */
export function renderReport({ header, verdict, metrics, arms }: ReportData): string {
  const cell = (value: MetricValue | undefined, unit: ReportData['metrics'][number]['unit']) =>
    value?.status === 'value' ? formatValue(value.value, unit) : 'no data';
  const rows = metrics.map(
    ({ id, label, unit }) =>
      `<tr><th scope="row">${escaped(label)}</th>${arms.map((arm) => `<td>${cell(arm.metrics[id], unit)}</td>`).join('')}</tr>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(header.casesFile)}</title>
<meta name="viewport" content="width=device-width"><style>:root{color-scheme:light dark}body{font-family:system-ui;margin:2rem}td,th{padding:.2rem 1rem;text-align:left}</style></head>
<body><h1>${escaped(header.casesFile)}</h1>${verdict.map((sentence) => `<p>${escaped(sentence)}</p>`).join('')}
<table><tr><th scope="col">Metric</th>${arms.map(({ name }) => `<th scope="col">${escaped(name)}</th>`).join('')}</tr>
${rows.join('\n')}</table></body></html>
`;
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
