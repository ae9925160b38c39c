import { readdir } from 'node:fs/promises';
import { basename, dirname, join, parse, relative } from 'node:path';

/**
 * A path that exists and that the person may have meant: the first missing part of `path` is compared with
 * what lies beside it. Null when nothing comes close.
 */
export async function similarPath(path: string, cwd: string): Promise<string | null> {
  const directory = dirname(path);
  if (directory === path) return null;
  const siblings = await readdir(directory).catch(() => null);
  if (siblings === null) return similarPath(directory, cwd);

  const wanted = basename(path);
  const [best] = siblings
    .map((name) => ({ name, distance: distanceOf(wanted, name) }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  if (best === undefined) return null;
  const found = join(directory, best.name);
  const way = relative(cwd, found);
  return way.startsWith('..') ? found : way;
}

/** 0 for names that differ in case only, 1 for ones that differ in their extension, else the number of edits. */
function distanceOf(wanted: string, name: string): number {
  const [a, b] = [wanted.toLowerCase(), name.toLowerCase()];
  if (a === b) return 0;
  if (parse(a).name === parse(b).name) return 1;
  // In a short name a few edits change nearly everything.
  const edits = editsBetween(a, b);
  return edits * 2 <= a.length ? edits : Number.POSITIVE_INFINITY;
}

/** Levenshtein's distance, with one row kept. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, from] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, to] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (from === to ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
