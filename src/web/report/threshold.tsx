import { joined } from '../../evaluation/report/format-value.ts';
import type { PageData } from '../../evaluation/report/page-data.ts';
import type { Calibration } from '../../evaluation/report/report-data.ts';
import { counted, quoted } from '../../text/phrasing.ts';
import { readable } from './numbers.ts';
import { InBothWidths, NoData, Scrollable, Section } from './parts.tsx';
import { linear, place, type Scale } from './scale.ts';

/** A table of a hundred steps helps nobody. */
const TABLE_STEP = 0.05;

/** What abstention would be at other thresholds. Arms that saw the same scores share a plot. */
export function Threshold({ data: { calibrations } }: { data: PageData }) {
  const hasPoints = ({ n, points }: Calibration) => n > 0 && points.length > 0;
  const drawn = Map.groupBy(calibrations.filter(hasPoints), ({ arm: _, ...rest }) => JSON.stringify(rest));
  const missing = calibrations.filter((calibration) => !hasPoints(calibration));
  return (
    <Section id="threshold" title="The score threshold">
      <p class="hint">
        What abstention would be if an answer were withheld whenever the best score found stays below the
        threshold.
      </p>
      <div class="plots">
        {Array.from(drawn.values(), (alike) => (
          <CalibrationFigure
            key={alike[0]?.arm}
            names={joined(alike.map(({ arm }) => quoted(arm)))}
            calibration={alike[0] as Calibration}
          />
        ))}
      </div>
      {(missing.length > 0 || calibrations.length === 0) && (
        <p>
          <NoData />
          {missing.length > 0 && ` for ${joined(missing.map(({ arm }) => quoted(arm)))}`}: no run searched on
          a case that says whether it is answerable.
        </p>
      )}
    </Section>
  );
}

function CalibrationFigure({ names, calibration }: { names: string; calibration: Calibration }) {
  const { current, best, n, points } = calibration;
  const optimum = best === null ? '' : ` The best F1 is at ${best}: ${sentenceAt(calibration, best)}.`;
  const said = `In force, at ${current}: ${sentenceAt(calibration, current)}.${optimum}`;
  const caption = `Abstention by threshold, ${names}`;
  return (
    <figure class="calibration">
      <figcaption>
        <h3>{names}</h3>
        <p>
          {said} {counted(n, 'run')}.
        </p>
      </figcaption>
      <InBothWidths
        draw={(size) => (
          <CalibrationPlot
            calibration={calibration}
            size={size}
            alternative={`Abstention precision, recall and F1 against the score threshold, ${names}. ${said}`}
          />
        )}
      />
      <p class="hint">
        <span class="key">solid upright line: in force</span>{' '}
        {best !== null && best !== current && <span class="key">dashed upright line: best F1, {best}</span>}
      </p>
      <details class="aside">
        <summary>In numbers</summary>
        <Scrollable label={caption}>
          <table>
            <caption>{caption}</caption>
            <thead>
              <tr>
                {['Threshold', ...LINES.map(({ label }) => label)].map((label) => (
                  <th key={label} scope="col" class="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {points
                .filter(({ threshold }) => isOnStep(threshold) || threshold === current || threshold === best)
                .map((point) => (
                  <tr key={point.threshold}>
                    <th scope="row" class="number">
                      {point.threshold.toFixed(2)}
                    </th>
                    {LINES.map(({ key }) => (
                      <td key={key} class="number">
                        {point[key] === null ? <NoData /> : readable(point[key], 'share')}
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        </Scrollable>
      </details>
    </figure>
  );
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

const SIZES = { wide: { width: 520, height: 300 }, narrow: { width: 342, height: 270 } };
const MARGIN = { top: 26, right: 70, bottom: 42, left: 38 };
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const LINES = [
  { key: 'precision', label: 'Precision' },
  { key: 'recall', label: 'Recall' },
  { key: 'f1', label: 'F1' },
] as const;

type Line = (typeof LINES)[number]['key'];

interface CalibrationPlotProps {
  calibration: Calibration;
  size: keyof typeof SIZES;
  alternative: string;
}

/** Abstention at every threshold. Lines differ in dashes as well; gaps stay gaps. */
function CalibrationPlot({ calibration, size, alternative }: CalibrationPlotProps) {
  const { current, best, points } = calibration;
  const { width, height } = SIZES[size];
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const x = linear([0, 1], [MARGIN.left, right]);
  const y = linear([0, 1], [bottom, MARGIN.top]);
  return (
    <svg
      class="plot"
      role="img"
      aria-label={alternative}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
    >
      {TICKS.map((tick) => (
        <>
          <path class="grid" d={`M${MARGIN.left} ${place(y(tick))}H${right}`} />
          <text class="tick end" x={MARGIN.left - 7} y={place(y(tick) + 4)}>
            {tick}
          </text>
          <text class="tick middle" x={place(x(tick))} y={bottom + 17}>
            {tick}
          </text>
        </>
      ))}
      <path class="axis" d={`M${MARGIN.left} ${MARGIN.top}V${bottom}H${right}`} />
      <text class="title end" x={right} y={height - 5}>
        Score threshold →
      </text>
      {best !== null && best !== current && (
        <path class="at-best" d={`M${place(x(best))} ${MARGIN.top}V${bottom}`} />
      )}
      <path class="in-force" d={`M${place(x(current))} ${MARGIN.top - 6}V${bottom}`} />
      <text class={current > 0.6 ? 'name end' : 'name'} x={place(x(current))} y={MARGIN.top - 11}>
        in force {current}
      </text>
      {LINES.map(({ key }) => (
        <path key={key} class={`line ${key}`} d={linePath(points, key, x, y)} />
      ))}
      {endLabels(points, y).map(({ label, at }) => (
        <text key={label} class="name" x={right + 6} y={place(at + 4)}>
          {label}
        </text>
      ))}
    </svg>
  );
}

function linePath(points: Calibration['points'], key: Line, x: Scale, y: Scale): string {
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
function endLabels(points: Calibration['points'], y: Scale): { label: string; at: number }[] {
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
