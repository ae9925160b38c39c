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
