import { isArrayIndex } from '../../citations/find-markers.ts';

/** A bracket that stays open for longer is not a marker. */
const LONGEST_MARKER = 40;
const REFS = /^\s*\d{1,3}(?:\s*,\s*\d{1,3})*\s*$/;

/** Passes streamed text through, without markers of unknown sources. */
export function createMarkerFilter(isKnown: (ref: number) => boolean) {
  let passed = '';
  let held = '';

  function pass(length: number): string {
    const text = held.slice(0, length);
    held = held.slice(length);
    passed += text;
    return text;
  }

  /** Whether `held`, which starts with a bracket, starts with a marker of unknown sources. */
  function startsWithUnknown(close: number): boolean {
    const content = held.slice(1, close);
    if (!REFS.test(content) || isInCode(passed) || isArrayIndex(passed, passed.length)) return false;
    return content.split(',').every((ref) => !isKnown(Number(ref)));
  }

  return {
    /** Returns the text that can be sent now. */
    push(text: string): string {
      held += text;
      let out = '';
      for (;;) {
        const open = held.indexOf('[');
        if (open < 0) return out + pass(held.length);
        out += pass(open);
        const close = held.indexOf(']');
        if (close < 0) return held.length > LONGEST_MARKER ? out + pass(held.length) : out;
        if (startsWithUnknown(close)) held = held.slice(close + 1);
        else out += pass(close + 1);
      }
    },
    /** Returns the text that was held back. */
    end: () => pass(held.length),
  };
}

/** Whether a run of backticks is still open at the end of a text. */
function isInCode(text: string): boolean {
  return (text.match(/`+/g)?.length ?? 0) % 2 === 1;
}
