/** Rows of comma-separated values; a cell in quotes may hold commas, newlines and doubled quotes. */
export function readCsv(source: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of source.matchAll(
    /[^\S\n]*(?:"((?:[^"]|"")*)"[^,\n]*|([^,\n]*))(,|\n|$)/g,
  )) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '');
    if (end === '\n') rows.push([]);
    if (end === '') break;
  }
  return rows.filter((row) => row.some((cell) => cell !== ''));
}
