export interface StorePoint {
  store: 'SQLite file' | 'Qdrant server';
  chunks: number;
  chunksPerSecond: number;
  /** Time that the server indexed after the ingest; null for the embedded store. */
  indexingSeconds: number | null;
  coldMs: number;
  p50: number;
  p95: number;
  rerankP50: number;
  rerankP95: number;
  rerankCpuMs: number;
  cpuMs: number;
  memoryMb: number;
  diskMb: number;
}

interface Panel {
  title: string;
  unit: string;
  value: (point: StorePoint) => number;
  /** A second value, drawn as the end of a line. */
  upTo?: (point: StorePoint) => number;
}

const PANELS: Panel[] = [
  { title: 'Hybrid search, p50 to p95', unit: 'ms', value: ({ p50 }) => p50, upTo: ({ p95 }) => p95 },
  { title: 'First search of a process', unit: 'ms', value: ({ coldMs }) => coldMs },
  { title: 'Ingest, vectors given', unit: 'chunks/s', value: ({ chunksPerSecond }) => chunksPerSecond },
  { title: 'Memory', unit: 'MB', value: ({ memoryMb }) => memoryMb },
];

const STORES = ['SQLite file', 'Qdrant server'] as const;
const [PANEL_WIDTH, PANEL_HEIGHT, GAP_X, GAP_Y] = [300, 170, 80, 62];
const [LEFT, TOP] = [58, 78];
const WIDTH = LEFT + 2 * PANEL_WIDTH + GAP_X + 32;
const HEIGHT = TOP + 2 * PANEL_HEIGHT + GAP_Y + 60;

/** Readable on light and dark backgrounds. */
const STYLE = `
  text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #57606a }
  .title { font-weight: 600; fill: #24292f }
  .grid { stroke: #8c959f; stroke-opacity: .28 }
  .a { stroke: #0969da; fill: #0969da } .b { stroke: #bc4c00; fill: #bc4c00 }
  path.a, path.b { fill: none; stroke-width: 2 } line.a, line.b { stroke-width: 1.5; stroke-opacity: .55 }
  text.a, text.b { stroke: none; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 } .title { fill: #f0f6fc }
    .a { stroke: #58a6ff; fill: #58a6ff } .b { stroke: #f0883e; fill: #f0883e }
  }`;

/** Renders four plots over the number of chunks, with logarithmic axes, as an SVG without a background. */
export function renderStoresPlot(points: readonly StorePoint[], caption: string): string {
  const panels = PANELS.map((panel, index) => {
    const x = LEFT + (index % 2) * (PANEL_WIDTH + GAP_X);
    const y = TOP + Math.floor(index / 2) * (PANEL_HEIGHT + GAP_Y);
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, points)}</g>`;
  });
  const legend = STORES.map((store, index) => {
    const x = LEFT + index * 130;
    const letter = storeClass(store);
    return `<circle class="${letter}" cx="${x + 5}" cy="24" r="4"/><text class="${letter}" x="${x + 16}" y="28">${store}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Cost of the embedded store and of a Qdrant server by the number of chunks">
<style>${STYLE}</style>
${legend.join('\n')}
${panels.join('\n')}
<text x="${LEFT}" y="${HEIGHT - 8}">${caption}</text>
</svg>
`;
}

function drawPanel({ title, unit, value, upTo }: Panel, points: readonly StorePoint[]): string {
  const sizes = [...new Set(points.map(({ chunks }) => chunks))];
  const values = points.flatMap((point) => [value(point), ...(upTo ? [upTo(point)] : [])]);
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values)));
  const x = logScale(Math.min(...sizes), Math.max(...sizes), 14, PANEL_WIDTH - 14);
  const y = logScale(low, high, PANEL_HEIGHT, 0);

  const parts = [
    `<text class="title" x="0" y="-14">${title} <tspan font-weight="400">(${unit})</tspan></text>`,
  ];
  for (let tick = low; tick <= high * 1.001; tick *= 10) {
    const at = fixed(y(tick));
    parts.push(`<line class="grid" x1="0" x2="${PANEL_WIDTH}" y1="${at}" y2="${at}"/>`);
    parts.push(`<text x="-8" y="${fixed(y(tick) + 4)}" text-anchor="end">${formatCount(tick)}</text>`);
  }
  for (const size of sizes) {
    parts.push(
      `<text x="${fixed(x(size))}" y="${PANEL_HEIGHT + 20}" text-anchor="middle">${formatCount(size)} chunks</text>`,
    );
  }
  for (const store of STORES) {
    const own = points.filter((point) => point.store === store);
    const letter = storeClass(store);
    const line = own.map((point) => `${fixed(x(point.chunks))} ${fixed(y(value(point)))}`).join(' L ');
    parts.push(`<path class="${letter}" d="M ${line}"/>`);
    for (const point of own) {
      const [cx, cy] = [fixed(x(point.chunks)), y(value(point))];
      const end = upTo ? y(upTo(point)) : cy;
      // The lines of the two stores must not overlap.
      const lineX = fixed(x(point.chunks) + (letter === 'a' ? -3 : 3));
      if (upTo)
        parts.push(
          `<line class="${letter}" x1="${lineX}" x2="${lineX}" y1="${fixed(cy)}" y2="${fixed(end)}"/>`,
        );
      parts.push(`<circle class="${letter}" cx="${cx}" cy="${fixed(cy)}" r="3.5"/>`);
      const at = isHigher(point, points, value) ? end - 9 : cy + 17;
      parts.push(
        `<text class="${letter}" x="${cx}" y="${fixed(at)}" text-anchor="middle">${formatCount(value(point))}</text>`,
      );
    }
  }
  return parts.join('');
}

/** Labels are above the higher line and below the lower one. */
function isHigher(point: StorePoint, points: readonly StorePoint[], value: Panel['value']): boolean {
  return points.every((other) => other.chunks !== point.chunks || value(other) <= value(point));
}

function logScale(from: number, to: number, start: number, end: number): (value: number) => number {
  const span = Math.log(to) - Math.log(from) || 1;
  return (value) => start + ((Math.log(value) - Math.log(from)) / span) * (end - start);
}

function storeClass(store: StorePoint['store']): 'a' | 'b' {
  return store === 'SQLite file' ? 'a' : 'b';
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function formatCount(value: number): string {
  if (value >= 10_000) return `${Math.round(value / 1000)}k`;
  if (value >= 1000) return `${Number((value / 1000).toFixed(1))}k`;
  return value >= 10 ? String(Math.round(value)) : String(Number(value.toFixed(1)));
}
