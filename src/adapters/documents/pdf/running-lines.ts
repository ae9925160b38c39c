import type { Line } from './lines.ts';

/** From how many pages on a line that stands on most of them is taken for a header or footer. */
const MANY_PAGES = 4;

const PAGE_NUMBER = /^[-–\s]*(\d+|[ivxlc]+)[-–\s]*$/;

/** Takes out page numbers, and the headers and footers that most pages repeat. */
export function dropRunningLines(pages: readonly Line[][]): Line[][] {
  if (pages.length < MANY_PAGES) return [...pages];
  const counts = new Map<string, number>();
  for (const page of pages) {
    for (const key of new Set(edgesOf(page).map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const isRunning = (line: Line): boolean =>
    PAGE_NUMBER.test(line.text) || (counts.get(keyOf(line)) ?? 0) > pages.length / 2;
  return pages.map((page) => {
    const edges = new Set(edgesOf(page));
    return page.filter((line) => !edges.has(line) || !isRunning(line));
  });
}

/** The lines at the top and at the bottom of a page. */
function edgesOf(page: readonly Line[]): Line[] {
  const byHeight = page.toSorted((left, right) => right.y - left.y);
  return [...byHeight.slice(0, 2), ...byHeight.slice(-2)];
}

/** Equal for lines that differ by their page number only. */
function keyOf({ text, y }: Line): string {
  return `${Math.round(y / 4)} ${text.replace(/\d+/g, '#')}`;
}
