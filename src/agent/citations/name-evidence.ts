import { termsOf } from './claim-terms.ts';
import { type Evidence, oneSpaced } from './evidence.ts';

/** Whether a chunk holds a name of code, as a whole word. Its case does not count, and a plural may follow. */
export function holdsIdentifier({ haystack, terms }: Evidence, name: string): boolean {
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
  // GitHub and Github, `QoSProfile` and QoS-Profile.
  const joined = termsOf(name).at(-1);
  return /^[\p{L}\p{N}]+$/u.test(name) && joined !== undefined && terms.has(joined);
}

/** Whether a chunk, its title or its headings hold a name; Open USD is OpenUSD too. */
export function holdsName({ haystack, terms }: Evidence, name: string): boolean {
  const term = termsOf(name).at(-1);
  if (term === undefined || terms.has(term)) return true;
  return name.length > 3 && haystack.replaceAll(' ', '').includes(name.toLowerCase());
}
