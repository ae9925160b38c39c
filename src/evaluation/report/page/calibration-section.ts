import type { Calibration, ReportData } from '../report-data.ts';
import { calibrationPlot } from './calibration-plot.ts';
import { type Html, html } from './html.ts';
import { joined, noData, readable } from './numbers.ts';
import { inBothWidths, scrollable, section } from './section.ts';

/** A table of a hundred steps helps nobody. */
const TABLE_STEP = 0.05;

/** What abstention would be at other thresholds. Arms that saw the same scores share a plot. */
export function calibrationSection({ calibrations }: ReportData): Html {
  const drawn = grouped(calibrations.filter(({ n, points }) => n > 0 && points.length > 0));
  const missing = calibrations.filter(({ n, points }) => n === 0 || points.length === 0);
  return section(
    'threshold',
    'The score threshold',
    html`<p class="hint">What abstention would be if an answer were withheld whenever the best score found stays below the threshold.</p>`,
    html`<div class="plots">${drawn.map(calibrationFigure)}</div>`,
    (missing.length > 0 || calibrations.length === 0) &&
      html`<p>${noData()}${missing.length > 0 && ` for ${joined(missing.map(({ arm }) => arm))}`}: no run searched on a case that says whether it is answerable.</p>`,
  );
}

interface Drawn {
  arms: string[];
  calibration: Calibration;
}

function grouped(calibrations: readonly Calibration[]): Drawn[] {
  const found = new Map<string, Drawn>();
  for (const calibration of calibrations) {
    const { arm, ...rest } = calibration;
    const key = JSON.stringify(rest);
    const same = found.get(key);
    if (same === undefined) found.set(key, { arms: [arm], calibration });
    else same.arms.push(arm);
  }
  return [...found.values()];
}

function calibrationFigure({ arms, calibration }: Drawn): Html {
  const names = joined(arms);
  const { current, best, n } = calibration;
  const inForce = sentenceAt(calibration, current);
  const optimum = best === null ? null : sentenceAt(calibration, best);
  const said = `In force, at ${current}: ${inForce}.${optimum === null ? '' : ` The best F1 is at ${best}: ${optimum}.`}`;
  return html`<figure class="calibration"><figcaption><h3>${names}</h3><p>${said} ${n} ${n === 1 ? 'run' : 'runs'}.</p></figcaption>
${inBothWidths((width) => calibrationPlot(calibration, width, `Abstention precision, recall and F1 against the score threshold, ${names}. ${said}`))}
<p class="hint"><span class="key">solid upright line: in force</span> ${best !== null && best !== current && html`<span class="key">dashed upright line: best F1, ${best}</span>`}</p>
<details class="aside"><summary>In numbers</summary>${scrollable(
    `Abstention by threshold, ${names}`,
    html`<table><caption>Abstention by threshold, ${names}</caption><thead><tr><th scope="col" class="number">Threshold</th><th scope="col" class="number">Precision</th><th scope="col" class="number">Recall</th><th scope="col" class="number">F1</th></tr></thead><tbody>${calibration.points
      .filter(({ threshold }) => isOnStep(threshold) || threshold === current || threshold === best)
      .map(
        ({ threshold, precision, recall, f1 }) =>
          html`<tr><th scope="row" class="number">${threshold.toFixed(2)}</th>${[precision, recall, f1].map((value) => html`<td class="number">${value === null ? noData() : readable(value, 'share')}</td>`)}</tr>`,
      )}</tbody></table>`,
  )}</details></figure>
`;
}

/** What holds at a threshold, which may lie between two steps. */
function sentenceAt({ points }: Calibration, threshold: number): string {
  const point = points.findLast((candidate) => candidate.threshold <= threshold + 1e-9);
  const show = (value: number | null | undefined) =>
    typeof value === 'number' ? value.toFixed(2) : 'no data';
  return `precision ${show(point?.precision)}, recall ${show(point?.recall)}, F1 ${show(point?.f1)}`;
}

function isOnStep(threshold: number): boolean {
  const steps = threshold / TABLE_STEP;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
}
