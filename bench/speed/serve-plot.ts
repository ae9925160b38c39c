/** The measurement for one number of concurrent clients. */
export interface LoadPoint {
  concurrency: number;
  turnsPerSecond: number;
  medianMs: number;
  p95Ms: number;
  firstWordMs: number;
}

const WIDTH = 640;
const HEIGHT = 300;
const LEFT = 56;
const RIGHT = 64;
const TOP = 40;
const BOTTOM = 44;

/** Renders turns per second (left axis) and the p95 of a turn (right axis) by concurrency as an SVG. */
export function renderLoadPlot(points: readonly LoadPoint[]): string {
  const x = (index: number) => LEFT + (index * (WIDTH - LEFT - RIGHT)) / Math.max(1, points.length - 1);
  const turns = createAxis(points.map(({ turnsPerSecond }) => turnsPerSecond));
  const p95 = createAxis(points.map(({ p95Ms }) => p95Ms / 1000));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12"><title>Turns per second and time per turn by number of clients</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${LEFT}" y="20" fill="#1a6fb5">turns/s (left)</text>`,
    `<text x="${WIDTH - RIGHT}" y="20" text-anchor="end" fill="#c2410c">p95 of a turn in s (right)</text>`,
    ...turns.ticks.map((tick) => gridLine(turns.y(tick), label(tick), label((tick / turns.top) * p95.top))),
    ...points.map(
      ({ concurrency }, index) =>
        `<text x="${x(index)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#444">${concurrency}</text>`,
    ),
    `<text x="${WIDTH / 2}" y="${HEIGHT - 8}" text-anchor="middle" fill="#444">concurrent clients</text>`,
    line(
      points.map(({ turnsPerSecond }, index) => [x(index), turns.y(turnsPerSecond)]),
      '#1a6fb5',
    ),
    line(
      points.map(({ p95Ms }, index) => [x(index), p95.y(p95Ms / 1000)]),
      '#c2410c',
    ),
    '</svg>',
    '',
  ].join('\n');
}

/** From 0 to a round number above the largest value, in four steps. */
function createAxis(values: readonly number[]) {
  const largest = Math.max(...values, Number.MIN_VALUE);
  const unit = 10 ** Math.floor(Math.log10(largest));
  const top = (([1, 2, 4, 10].find((factor) => factor * unit >= largest) ?? 10) * unit) as number;
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  return { top, y, ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * top) };
}

function gridLine(y: number, left: string, right: string): string {
  return (
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" stroke="#ddd"/>` +
    `<text x="${LEFT - 8}" y="${y + 4}" text-anchor="end" fill="#444">${left}</text>` +
    `<text x="${WIDTH - RIGHT + 8}" y="${y + 4}" fill="#444">${right}</text>`
  );
}

function line(points: readonly (readonly [number, number])[], color: string): string {
  const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const dots = points.map(
    ([x, y]) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3.5" fill="${color}"/>`,
  );
  return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>${dots.join('')}`;
}

function label(value: number): string {
  return String(Number(value.toPrecision(2)));
}
