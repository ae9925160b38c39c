import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { MetricInfo, MetricValue } from '../../evaluation/report/metric-value.ts';
import { range, readable } from './numbers.ts';
import { place } from './scale.ts';

interface SectionProps {
  id: string;
  title: string;
  children: ComponentChildren;
}

/** A landmark with a heading that links can reach. */
export function Section({ id, title, children }: SectionProps) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </section>
  );
}

/**
 * A table whose heads stay in view: those of its columns below the top of the page, or, where it is wider than the
 * page and has to scroll by itself, those of columns and rows at the edges of what is seen of it.
 */
export function Scrollable({ label, children }: { label: string; children: ComponentChildren }) {
  const frame = useRef<HTMLElement>(null);
  const [isWide, setWide] = useState(false);
  useLayoutEffect(() => {
    const element = frame.current;
    const table = element?.firstElementChild;
    if (element == null || table == null) return;
    // It reports at once as well, after the page is laid out and before it is drawn.
    const observer = new ResizeObserver(() => setWide(table.scrollWidth > element.clientWidth + 1));
    observer.observe(element);
    observer.observe(table);
    return () => observer.disconnect();
  }, []);
  return (
    // What scrolls must be reached by the keyboard; what does not need not.
    <section
      ref={frame}
      class={isWide ? 'scroll wide' : 'scroll'}
      aria-label={label}
      tabIndex={isWide ? 0 : undefined}
    >
      {children}
    </section>
  );
}

/** As many arms have room beside one another on a phone, with what names a row above them. */
const FEW_ARMS = 5;

/** The classes of a table with a column an arm. */
export function byArm(arms: readonly unknown[], name: string): string {
  const room = arms.length === 1 ? 'alone' : '';
  return `${name} ${room} ${arms.length <= FEW_ARMS ? 'by-arm' : ''}`.trim();
}

/** A plot drawn for wide and for narrow screens, so that its letters never shrink. */
export function InBothWidths({ draw }: { draw: (width: 'wide' | 'narrow') => ComponentChildren }) {
  return (
    <>
      <div class="wide-only">{draw('wide')}</div>
      <div class="narrow-only">{draw('narrow')}</div>
    </>
  );
}

/** What is not known is said to be so; it is never a nought. */
export function NoData() {
  return <span class="none">no data</span>;
}

export function ValueWithRange({
  value,
  unit,
}: {
  value: MetricValue | undefined;
  unit: MetricInfo['unit'];
}) {
  if (value?.status !== 'value') return <NoData />;
  return (
    <>
      <span class="value">{readable(value.value, unit)}</span>
      {value.interval !== null && <small class="range">{range(value.interval, unit)}</small>}
    </>
  );
}

/** An arm's name beside its shape, which stays at its side. */
export function ArmName({ arm, name }: { arm: number; name: string }) {
  return (
    <span class="arm-name">
      <svg
        class="inline-mark"
        viewBox="0 0 16 16"
        width="14"
        height="14"
        aria-hidden="true"
        focusable="false"
      >
        <Mark arm={arm} x={8} y={8} size={5.2} />
      </svg>
      <span>{name}</span>
    </span>
  );
}

/** Corners on a circle, the first of them at an angle in quarters of a turn. */
interface Shape {
  corners: number;
  size: number;
  turned: number;
}

/** Arms are told apart by shape, so that no colour needs to be seen: circle, square, triangles, diamond. */
const SHAPES: readonly Shape[] = [
  { corners: 24, size: 1, turned: 0 },
  { corners: 4, size: 1.2, turned: 0.5 },
  { corners: 3, size: 1.35, turned: -1 },
  { corners: 4, size: 1.3, turned: 0 },
  { corners: 3, size: 1.35, turned: 1 },
];

interface MarkProps {
  /** The arm's place in the report. From the sixth on shapes repeat, hollow. */
  arm: number;
  x: number;
  y: number;
  size: number;
}

export function Mark({ arm, x, y, size }: MarkProps) {
  const { corners, turned, ...shape } = SHAPES[arm % SHAPES.length] as Shape;
  const points = Array.from({ length: corners }, (_, corner) => {
    const angle = (turned * Math.PI) / 2 + (corner * 2 * Math.PI) / corners;
    return `${place(x + size * shape.size * Math.cos(angle))} ${place(y + size * shape.size * Math.sin(angle))}`;
  });
  return <path class={arm < SHAPES.length ? 'mark' : 'mark hollow'} d={`M${points.join('L')}Z`} />;
}
