import { counted } from '../../text/phrasing.ts';
import { cutText } from '../../text/visible-text.ts';
import { type Html, html, renderPage } from '../report/render-report.ts';
import type { CalibrationData, JudgeFigures, Ruling } from './calibration-data.ts';
import { formatEstimate, namedFigures } from './findings.ts';

const MOST_CASES = 2000;
const LONGEST_CLAIM = 600;
const LONGEST_QUESTION = 200;

/** What judges come to as one page, in the look of reports; it runs no script. */
export function calibrationPage(data: CalibrationData, { style }: { style: string }): string {
  const { findings, judges, header } = data;
  const [title = '', ...others] = findings;
  const said = Object.entries(header.byLabel).map(([label, count]) => `${count} ${label}`);
  const body = html`<main>
<section class="verdict"><h1>${title}</h1>
<ul class="findings">${others.map((sentence) => html`<li>${sentence}</li>`)}</ul></section>
<section><h2>Figures</h2>
<p class="hint">${counted(header.labels, 'label')} of ${header.file}: ${said.join(', ')}. Only "supported" counts as such. Intervals of 95 %, seed ${header.seed}; citeloop ${header.version}.</p>
${figures(judges)}
<dl>${judges.map(({ name, description, bias }) => html`<dt class="strong">${name}</dt><dd class="hint">${description}${bias.map(({ towards, kind }) => `; ${towards}: ${kind}`)}</dd>`)}</dl></section>
<section><h2>What they said of what people said</h2>${judges.map(counts)}</section>
${sources(judges)}
${reliability(judges)}
${partings(data)}
</main>`;
  return renderPage({ title, style, script: null, body: body.markup });
}

function figures(judges: readonly JudgeFigures[]): Html {
  const columns = judges.map(namedFigures);
  return tableOf(
    'Judges against people',
    ['', ...judges.map(({ name }) => name)],
    (columns[0] ?? []).map(([label], row) => [
      label,
      ...columns.map((named) => formatEstimate(named[row]?.[1] ?? null)),
    ]),
  );
}

function counts({ name, counts: byLabel }: JudgeFigures): Html {
  const verdicts = Object.keys(Object.values(byLabel)[0] ?? {});
  return tableOf(
    `A label a row, a verdict of ${name} a column`,
    ['', ...verdicts],
    Object.entries(byLabel).map(([label, row]) => [
      label,
      ...verdicts.map((verdict) => String(row[verdict] ?? 0)),
    ]),
  );
}

function sources(judges: readonly JudgeFigures[]): Html | null {
  const rows = judges.flatMap(({ name, sources: from }) =>
    from.map(({ source, n, agreement, kappa }) => [
      `${source}, ${name}`,
      String(n),
      formatEstimate(agreement),
      formatEstimate(kappa),
    ]),
  );
  if (rows.length === 0) return null;
  return html`<section><h2>By source</h2>${tableOf('Agreement by where the labels are from', ['', 'n', 'agreement', 'kappa'], rows)}</section>`;
}

function reliability(judges: readonly JudgeFigures[]): Html | null {
  const told = judges.flatMap(({ name, reliability: found }) => (found === null ? [] : [{ name, ...found }]));
  if (told.length === 0) return null;
  return html`<section><h2>Are chances what they say</h2>${told.map(({ name, error, bins }) =>
    tableOf(
      `${name}: ${error.toFixed(2)} apart on average`,
      ['', 'n', 'chance it gave', 'found supported'],
      bins.map(({ from, to, n, said, came, interval }) => [
        `${from.toFixed(1)} to ${to.toFixed(1)}`,
        String(n),
        said.toFixed(2),
        formatEstimate({ value: came, interval, n }),
      ]),
    ),
  )}</section>`;
}

function partings({ cases, judges }: CalibrationData): Html {
  const parting = cases.filter(({ partFrom }) => partFrom.length > 0);
  const shown = parting.slice(0, MOST_CASES).map(({ id, question, claim, label, rulings, partFrom }) => {
    const said = judges.map(({ name }) => {
      const words = `${name}: ${rulingIn(rulings[name] ?? null)}`;
      return partFrom.includes(name) ? html`; <span class="strong">${words}</span>` : `; ${words}`;
    });
    return html`<li>${cutText(claim, LONGEST_CLAIM)}
<p class="hint">people: ${label}${said}. ${id}${question ? ` · ${cutText(question, LONGEST_QUESTION)}` : ''}</p></li>
`;
  });
  const left = parting.length - shown.length;
  return html`<section><h2>Where they part from people: ${parting.length} of ${cases.length}</h2>
<ol class="findings">${shown}</ol>${left > 0 && html`<p class="hint">And ${left} more, in what --json writes.</p>`}</section>`;
}

function rulingIn(ruling: Ruling | null): string {
  if (ruling === null) return 'nothing';
  const { verdict, chance, reason } = ruling;
  const why = reason === '' ? '' : ` (${cutText(reason, LONGEST_QUESTION)})`;
  return `${verdict}${chance === null ? '' : ` ${chance.toFixed(2)}`}${why}`;
}

function tableOf(caption: string, headings: readonly string[], rows: readonly (readonly string[])[]): Html {
  return html`<div class="scroll wide"><table class="metrics alone"><caption>${caption}</caption>
<thead><tr>${headings.map((heading, at) => html`<th scope="col"${at > 0 && html` class="number"`}>${heading}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([
      first = '',
      ...cells
    ]) => html`<tr><th scope="row">${first}</th>${cells.map((cell) => html`<td class="number">${cell}</td>`)}</tr>
`,
  )}</tbody></table></div>`;
}
