import { type Html, html } from './html.ts';
import { place } from './scale.ts';

type Draw = (x: number, y: number, size: number) => string;

/** Arms are told apart by shape, so that no colour needs to be seen. */
const SHAPES: readonly Draw[] = [
  (x, y, r) => polygon(Array.from({ length: 24 }, (_, i) => around(x, y, r, (i * Math.PI) / 12))),
  (x, y, r) => polygon(Array.from({ length: 4 }, (_, i) => around(x, y, r * 1.2, (i + 0.5) * (Math.PI / 2)))),
  (x, y, r) =>
    polygon(
      Array.from({ length: 3 }, (_, i) => around(x, y, r * 1.35, -Math.PI / 2 + (i * 2 * Math.PI) / 3)),
    ),
  (x, y, r) => polygon(Array.from({ length: 4 }, (_, i) => around(x, y, r * 1.3, i * (Math.PI / 2)))),
  (x, y, r) =>
    polygon(Array.from({ length: 3 }, (_, i) => around(x, y, r * 1.35, Math.PI / 2 + (i * 2 * Math.PI) / 3))),
];

/** The shape of the arm at this place in the report. From the sixth on shapes repeat, hollow. */
export function markShape(arm: number, x: number, y: number, size: number): Html {
  const draw = SHAPES[arm % SHAPES.length] as Draw;
  return html`<path class="${arm < SHAPES.length ? 'mark' : 'mark hollow'}" d="${draw(x, y, size)}"/>`;
}

/** An arm's name beside its shape, which stays at its side. */
export function markedName(arm: number, name: string): Html {
  return html`<span class="arm-name"><svg class="inline-mark" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">${markShape(arm, 8, 8, 5.2)}</svg><span>${name}</span></span>`;
}

function around(x: number, y: number, radius: number, angle: number): [number, number] {
  return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
}

function polygon(points: readonly (readonly [number, number])[]): string {
  return `M${points.map(([x, y]) => `${place(x)} ${place(y)}`).join('L')}Z`;
}
