import { termsOf } from './claim-terms.ts';
import { type Evidence, oneSpaced } from './evidence.ts';

/** Whether a chunk holds a name of code, as a whole word. Its case does not count, and a plural may follow. */
export function holdsIdentifier({ haystack }: Evidence, name: string): boolean {
  const sought = oneSpaced(name).trim();
  const opensWord = /^[\p{L}\p{N}_]/u.test(sought);
  const endsWord = /[\p{L}\p{N}_]$/u.test(sought);
  const endsNumber = /\d$/.test(sought);
  for (let at = haystack.indexOf(sought); at >= 0; at = haystack.indexOf(sought, at + 1)) {
    const before = haystack.charAt(at - 1);
    const after = haystack.slice(at + sought.length, at + sought.length + 3);
    if (opensWord && /[\p{L}\p{N}_]/u.test(before)) continue;
    if (endsWord && !/^s?(?![\p{L}\p{N}_])/u.test(after)) continue;
    // Another group of digits makes another version: 1.2 is not 1.2.3.
    if (!(endsNumber && /^\.\d/.test(after))) return true;
  }
  return holdsApart(haystack, name);
}

/** Whether a chunk, its title or its headings hold a name. */
export function holdsName({ haystack, terms }: Evidence, name: string): boolean {
  const term = termsOf(name).at(-1);
  return term === undefined || terms.has(term) || holdsApart(haystack, name);
}

/** OpenUSD is Open USD and open-usd too. */
function holdsApart(haystack: string, name: string): boolean {
  if (!/^[\p{L}\p{N}]+$/u.test(name)) return false;
  const parts = name.split(/(?<=\p{Ll}|\p{N})(?=\p{Lu})/u);
  if (parts.length < 2) return false;
  return new RegExp(`(?<![\\p{L}\\p{N}_])${parts.join('[ -]')}s?(?![\\p{L}\\p{N}_])`, 'iu').test(haystack);
}
