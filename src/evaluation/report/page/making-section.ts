import { formatValue } from '../format-value.ts';
import type { ReportData } from '../report-data.ts';
import { type Html, html } from './html.ts';
import { markedName } from './mark-shape.ts';
import { joined } from './numbers.ts';
import { scrollable, section } from './section.ts';

const SETTINGS = {
  model: 'Model',
  policy: 'Policy',
  mode: 'Search mode',
  topK: 'Passages a search',
  scoreThreshold: 'Score threshold',
  rerank: 'Reranking',
  temperature: 'Temperature',
  maxSteps: 'Steps at most',
} as const;

/** How the report was made: all that is needed to make it again. */
export function makingSection({ header, arms }: ReportData): Html {
  const facts: [string, string][] = [
    ['Program', `${header.program} ${header.version}`],
    ['Finished', `${header.date.slice(0, 16).replace('T', ' ')} UTC`],
    ['Took', duration(header.durationMs)],
    ['Cases', `${header.cases}, from ${header.casesFile}`],
    ['Hash of the cases', header.casesHash],
    ['Repeats', String(header.repeat)],
    ['Questions at a time', String(header.concurrency)],
    ['Models', joined(header.models)],
    [
      'Collection',
      `${header.collection.name}: ${header.collection.documents} documents, ${header.collection.chunks} chunks`,
    ],
    ['Embedder', header.collection.embedder || 'none'],
    ['Seed of the statistics', String(header.seed)],
    ['Currency', header.currency ?? 'none: no price file'],
    ['Judge', header.judge ?? 'none'],
  ];
  return section(
    'making',
    'How it was made',
    html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`,
    scrollable(
      'Settings by arm',
      html`<table class="settings"><caption>Settings by arm. <span class="key">● sets the arms apart</span></caption><thead><tr><th scope="col">Setting</th>${arms.map(({ name }, index) => html`<th scope="col">${markedName(index, name)}</th>`)}</tr></thead><tbody>${Object.entries(
        SETTINGS,
      ).map(
        ([key, label]) =>
          html`<tr><th scope="row">${label}</th>${arms.map(({ settings, changed }) => {
            const isChanged = Object.hasOwn(changed, key);
            return html`<td class="${isChanged ? 'changed' : ''}">${isChanged && html`<span aria-hidden="true">● </span><span class="unseen">sets it apart: </span>`}${shown(settings[key as keyof typeof SETTINGS])}</td>`;
          })}</tr>`,
      )}</tbody></table>`,
    ),
  );
}

function shown(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}

function duration(ms: number): string {
  if (ms < 60_000) return formatValue(ms, 'ms');
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
