import { looksLikeIndex } from '../../agent/citations/bracket-context.ts';

/** Lets text through as it comes, except for markers of sources that there are not. */
export interface MarkerFilter {
  /** What can be passed on now. */
  push(text: string): string;
  /** What was still held back. */
  end(): string;
}

/** A bracket that stays open for longer is no marker. */
const LONGEST_MARKER = 40;
const REFS = /^\s*\d{1,3}(?:\s*,\s*\d{1,3})*\s*$/;

export function createMarkerFilter(isKnown: (ref: number) => boolean): MarkerFilter {
  let passed = '';
  let held = '';

  function pass(length: number): string {
    const text = held.slice(0, length);
    held = held.slice(length);
    passed += text;
    return text;
  }

  function isUnknown(open: number, close: number): boolean {
    const content = held.slice(open + 1, close);
    if (!REFS.test(content)) return false;
    const before = passed + held.slice(0, open);
    if (inCode(before) || looksLikeIndex(before, before.length)) return false;
    return content.split(',').every((ref) => !isKnown(Number(ref)));
  }

  return {
    push(text) {
      held += text;
      let out = '';
      for (;;) {
        const open = held.indexOf('[');
        if (open < 0) return out + pass(held.length);
        out += pass(open);
        const close = held.indexOf(']');
        if (close < 0) return held.length > LONGEST_MARKER ? out + pass(held.length) : out;
        if (isUnknown(0, close)) held = held.slice(close + 1);
        else out += pass(close + 1);
      }
    },
    end: () => pass(held.length),
  };
}

/** Within backticks, as far as they have been opened and not yet closed. */
function inCode(before: string): boolean {
  return (before.match(/`+/g)?.length ?? 0) % 2 === 1;
}
