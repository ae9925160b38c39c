import type { ComponentChildren } from 'preact';

interface SectionProps {
  id: string;
  title: string;
  children: ComponentChildren;
}

/** A landmark whose heading can be linked to and focused. */
export function ReportSection({ id, title, children }: SectionProps) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </section>
  );
}

/** A list of sentences; nothing if there are none. */
export function SentenceList({ sentences }: { sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <ul class="findings">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}

interface FactListProps {
  class: string;
  facts: readonly [name: string, values: readonly string[]][];
}

/** Facts without a value are left out. */
export function FactList({ facts, ...props }: FactListProps) {
  return (
    <dl class={props.class}>
      {facts
        .filter(([, values]) => values.length > 0)
        .map(([name, values]) => (
          <div key={name}>
            <dt>{name}</dt>
            {values.map((value) => (
              <dd key={value} dir="auto">
                {value}
              </dd>
            ))}
          </div>
        ))}
    </dl>
  );
}

/** More columns than this do not fit on a wide screen. */
const MAX_FITTING_COLUMNS = 8;

interface DataTableProps {
  caption: string;
  /** The symbols used in the table, after the caption. */
  legend?: ComponentChildren;
  isCaptionHidden?: boolean;
  /** The header cells. */
  columns: readonly ComponentChildren[];
  /** The index of the first column with numbers. */
  numbersFrom?: number;
  class?: string;
  /** The rows. */
  children: ComponentChildren;
}

/** A table that scrolls inside its frame where it does not fit, with its header row and first column in view. */
export function DataTable({
  caption,
  legend,
  isCaptionHidden = false,
  columns,
  numbersFrom = columns.length,
  children,
  ...props
}: DataTableProps) {
  return (
    <section
      class={columns.length > MAX_FITTING_COLUMNS ? 'scroll always' : 'scroll'}
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: The keyboard must reach what scrolls.
      tabIndex={0}
    >
      <table class={props.class}>
        <caption class={isCaptionHidden ? 'unseen' : undefined}>
          {caption} {legend}
        </caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col" class={index < numbersFrom ? undefined : 'number'}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** Missing values are labeled, never shown as 0. */
export function NoDataLabel() {
  return <span class="none">no data</span>;
}

/** The name of an arm with the shape that stands for it in the plot. */
export function ArmName({ index, name }: { index: number; name: string }) {
  return (
    <span class="arm-name">
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
        <ArmShape index={index} x={8} y={8} radius={5.2} />
      </svg>
      <span>{name}</span>
    </span>
  );
}

/** Circle, square, triangle, diamond, inverted triangle; `turn` is in quarter turns. */
const SHAPES = [
  { corners: 24, scale: 1, turn: 0 },
  { corners: 4, scale: 1.2, turn: 0.5 },
  { corners: 3, scale: 1.35, turn: -1 },
  { corners: 4, scale: 1.3, turn: 0 },
  { corners: 3, scale: 1.35, turn: 1 },
] as const;

interface ArmShapeProps {
  /** Shapes repeat, hollow, from the sixth arm on. */
  index: number;
  x: number;
  y: number;
  radius: number;
}

/** Arms differ by shape, so that the plot can be read without seeing color. */
export function ArmShape({ index, x, y, radius }: ArmShapeProps) {
  const { corners, scale, turn } = SHAPES[index % SHAPES.length] as (typeof SHAPES)[number];
  const points = Array.from({ length: corners }, (_, corner) => {
    const angle = (turn * Math.PI) / 2 + (corner * 2 * Math.PI) / corners;
    const distance = radius * scale;
    return `${(x + distance * Math.cos(angle)).toFixed(1)} ${(y + distance * Math.sin(angle)).toFixed(1)}`;
  });
  return <path class={index < SHAPES.length ? 'mark' : 'mark hollow'} d={`M${points.join('L')}Z`} />;
}
