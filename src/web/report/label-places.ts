import { cutText } from '../../text/visible-text.ts';

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface Spot {
  name: string;
  x: number;
  y: number;
}

/** A name and where its text begins, on the baseline. */
interface Label {
  text: string;
  x: number;
  y: number;
}

const SAME_SPOT = 7;
const MARK = 9;
const GAP = 11;
const LETTER = { width: 7.6, above: 10, below: 3 };
const LONGEST = 24;

/** Names beside their marks: one for all that lie on the same spot, each where it covers least. */
export function placeLabels(spots: readonly Spot[], obstacles: readonly Box[], frame: Box): Label[] {
  const marks = spots.map(({ x, y }) => around(x, y));
  const taken: Box[] = [];
  return merged(spots).map(({ names, x, y }) => {
    const all = names.join(', ');
    const text = all.length > LONGEST ? `${cutText(all, LONGEST - 1)}…` : all;
    const width = text.length * LETTER.width;
    const places = [x + GAP, x - GAP - width, x - width / 2].flatMap((left) =>
      [y - GAP, y + GAP + LETTER.above / 2, y - 2 * GAP, y + 3 * GAP].map((base) => ({ left, base })),
    );
    const scored = places.map((candidate) => {
      const box = boxOf(candidate.left, candidate.base, width);
      const outside = width * (LETTER.above + LETTER.below) - shared(box, frame);
      const covered = (boxes: readonly Box[]) => boxes.reduce((sum, other) => sum + shared(box, other), 0);
      const away = Math.abs(candidate.base - y);
      return {
        candidate,
        box,
        cost: 4 * outside + 6 * covered(taken) + 6 * covered(marks) + covered(obstacles) + away,
      };
    });
    const best = scored.reduce((least, other) => (other.cost < least.cost ? other : least));
    taken.push(best.box);
    return { text, x: best.candidate.left, y: best.candidate.base };
  });
}

function merged(spots: readonly Spot[]): { names: string[]; x: number; y: number }[] {
  const groups: { names: string[]; x: number; y: number }[] = [];
  for (const { name, x, y } of spots) {
    const same = groups.find((group) => Math.hypot(group.x - x, group.y - y) < SAME_SPOT);
    if (same === undefined) groups.push({ names: [name], x, y });
    else same.names.push(name);
  }
  return groups;
}

function around(x: number, y: number): Box {
  return { left: x - MARK, right: x + MARK, top: y - MARK, bottom: y + MARK };
}

function boxOf(left: number, base: number, width: number): Box {
  return { left, right: left + width, top: base - LETTER.above, bottom: base + LETTER.below };
}

/** The area that two boxes have in common. */
function shared(a: Box, b: Box): number {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}
