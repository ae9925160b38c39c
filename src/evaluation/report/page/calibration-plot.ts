import type { Calibration } from '../report-data.ts';
import { type Html, html } from './html.ts';
import { linear, place } from './scale.ts';

const SIZES = { wide: { width: 520, height: 300 }, narrow: { width: 342, height: 270 } };
const MARGIN = { top: 26, right: 70, bottom: 42, left: 38 };
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const LINES = [
  { key: 'precision', label: 'Precision' },
  { key: 'recall', label: 'Recall' },
  { key: 'f1', label: 'F1' },
] as const;

type Line = (typeof LINES)[number]['key'];

/** Abstention at every threshold. Lines differ in dashes as well; gaps stay gaps. */
export function calibrationPlot(
  { current, best, points }: Calibration,
  size: keyof typeof SIZES,
  alternative: string,
): Html {
  const { width, height } = SIZES[size];
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const x = linear([0, 1], [MARGIN.left, right]);
  const y = linear([0, 1], [bottom, MARGIN.top]);
  const ends = endLabels(points, y);
  return html`<svg class="plot calibration" role="img" aria-label="${alternative}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
${TICKS.map((tick) => html`<path class="grid" d="M${MARGIN.left} ${place(y(tick))}H${right}"/><text class="tick end" x="${MARGIN.left - 7}" y="${place(y(tick) + 4)}">${tick}</text><text class="tick middle" x="${place(x(tick))}" y="${bottom + 17}">${tick}</text>`)}
<path class="axis" d="M${MARGIN.left} ${MARGIN.top}V${bottom}H${right}"/>
<text class="title end" x="${right}" y="${height - 5}">Score threshold →</text>
${best !== null && best !== current && html`<path class="at-best" d="M${place(x(best))} ${MARGIN.top}V${bottom}"/>`}
<path class="in-force" d="M${place(x(current))} ${MARGIN.top - 6}V${bottom}"/><text class="name ${current > 0.6 ? 'end' : ''}" x="${place(x(current))}" y="${MARGIN.top - 11}">in force ${current}</text>
${LINES.map(({ key }) => html`<path class="line ${key}" d="${linePath(points, key, x, y)}"/>`)}
${ends.map(({ label, at }) => html`<text class="name" x="${right + 6}" y="${place(at + 4)}">${label}</text>`)}
</svg>`;
}

function linePath(
  points: Calibration['points'],
  key: Line,
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  let isDrawing = false;
  return points
    .map((point) => {
      const value = point[key];
      if (value === null) {
        isDrawing = false;
        return '';
      }
      const command = isDrawing ? 'L' : 'M';
      isDrawing = true;
      return `${command}${place(x(point.threshold))} ${place(y(value))}`;
    })
    .join('');
}

/** Names at the ends of the lines, pushed apart. */
function endLabels(
  points: Calibration['points'],
  y: (value: number) => number,
): { label: string; at: number }[] {
  const placed = LINES.flatMap(({ key, label }) => {
    const last = points.findLast((point) => point[key] !== null)?.[key];
    return last === undefined || last === null ? [] : [{ label, at: y(last) }];
  }).sort((a, b) => a.at - b.at);
  placed.forEach((label, index) => {
    const above = placed[index - 1];
    if (above !== undefined) label.at = Math.max(label.at, above.at + 15);
  });
  return placed;
}
