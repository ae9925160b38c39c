import type { CountTokens } from './chunk-units.ts';

/** Title and headings as one line of at most `limit` tokens. Of a long path the ends say most, so the middle goes first. */
export function headingPrefix(
  path: readonly string[],
  limit: number,
  countTokens: CountTokens,
): { text: string; tokens: number } {
  const parts = path.filter((part) => part !== '');
  for (;;) {
    const text = parts.join(' > ');
    const tokens = countTokens(text);
    if (tokens <= limit) return { text, tokens };
    if (parts.length > 1) parts.splice(parts.length > 2 ? 1 : 0, 1);
    else parts[0] = shortened(parts[0] ?? '');
  }
}

function shortened(heading: string): string {
  const words = heading.split(' ');
  return words.length > 1
    ? words.slice(0, Math.ceil(words.length / 2)).join(' ')
    : heading.slice(0, heading.length >>> 1);
}
