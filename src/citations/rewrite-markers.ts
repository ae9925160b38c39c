import { replaceRanges } from '../text/markdown-blocks.ts';
import type { CitationMarker } from './find-markers.ts';

export interface ResolvedMarker {
  marker: CitationMarker;
  /** The refs of its sources; empty if all of them are unknown. */
  refs: string[];
}

// Each marker is first replaced by its refs between two characters that no text has. Then rules remove what is left over
// around them.
const OPEN = '\uFDD0';
const CLOSE = '\uFDD1';
const EMPTY = OPEN + CLOSE;
const ANY = `${OPEN}[^${CLOSE}]*${CLOSE}`;
// Repetitions are bounded, so that the rules take linear time.
const GAP = '[ \\t]{0,20}';
const BULLET = `[ \\t>]{0,20}(?:(?:[-*+•]|\\d{1,9}[.)])${GAP})?(?:\\[[ xX]\\])?${GAP}`;
const EMPTIED_LINE = `${BULLET}(?:(?:sources?|see)${GAP}:?)?[*_ \\t]{0,20}${EMPTY}${GAP}`;
const SOURCE_LINE = `[*_]{0,3}sources?[*_]{0,3}:[*_]{0,3}${GAP}(${OPEN}[^${CLOSE}]+${CLOSE})(?=\\n|$)`;
const LEAD_IN = 'see(?: also)?|cf\\.?|from|per|via|e\\.g\\.,?|i\\.e\\.,?|according to|as in';

type Rule = [pattern: RegExp, replacement: string];

const rule = (pattern: string, replacement: string): Rule => [new RegExp(pattern, 'giu'), replacement];

/** Applied repeatedly: join markers such as `[1], [2]`, and remove the brackets or emphasis around them. */
const JOIN_RULES: Rule[] = [
  rule(`${CLOSE}[ \\t]{0,11}(?:[,;&][ \\t]{0,11})?(?:and[ \\t]{1,10})?${OPEN}`, ''),
  rule(
    `(?<![\\p{L}\\p{N}\\]]_?)\\(\\s{0,20}(?:(?:sources?|refs?|references?):?\\s{0,20})?(${ANY})\\s{0,20}\\)`,
    '$1',
  ),
  rule(
    `\\[\\s{0,20}(${ANY})\\s{0,20}\\]|（\\s{0,20}(${ANY})\\s{0,20}）|【\\s{0,20}(${ANY})\\s{0,20}】`,
    '$1$2$3',
  ),
  rule(`([*_])(${ANY})\\1`, '$2'),
];
const MOST_WRAPPERS = 4;

const CLEANUP_RULES: Rule[] = [
  // A line that only names sources belongs to the paragraph above it.
  rule(`(?<=[.!?)\\]${CLOSE}])\\n{1,2}${SOURCE_LINE}`, ' $1'),
  rule(`(?<![^\\n])${SOURCE_LINE}`, '$1'),
  rule(`\\((?:${LEAD_IN})[\\s:,]{0,20}${EMPTY}${GAP}\\)`, EMPTY),
  rule(`\\s{0,20}(?<![^\\n])${EMPTIED_LINE}$`, ''),
  rule(`(?<=^|\\n\\n)(?:${EMPTIED_LINE}\\n)+\\n*`, ''),
  rule(`(?<=\\n)${EMPTIED_LINE}\\n`, ''),
  rule(`[,;]?${GAP}${EMPTY}${GAP}(?=\\n|$)`, ''),
  rule(`((?:^|\\n)${GAP})${EMPTY}${GAP}`, '$1'),
  rule(`(?<=[([])${GAP}${EMPTY}${GAP}(?:[,;]${GAP})?`, ''),
  rule(`[,;]${GAP}${EMPTY}${GAP}(?=[.,;:!?)\\]])`, ''),
  rule(`(?<=[.!?])${GAP}${EMPTY}${GAP}[.,;!?](?=\\s|$)`, ''),
  rule(`${GAP}${EMPTY}${GAP}(?=[.,;:!?)\\]])`, ''),
  rule(`[ \\t]{1,20}${EMPTY}${GAP}|${EMPTY}[ \\t]{1,20}`, ' '),
];

/**
 * Writes every known marker as `[n]` and removes unknown ones together with the spaces, commas and parentheses that
 * would be left over. Markers must be in order.
 */
export function rewriteMarkers(answer: string, resolved: readonly ResolvedMarker[]): string {
  const edits = resolved.map(({ marker, refs }) => {
    const { start, end } = marker;
    const label = labelToKeep(answer, marker);
    const written = `${OPEN}${refs.map((ref) => `[${ref}]`).join('')}${CLOSE}`;
    if (label === '') return { start, end, text: written };
    return { start, end, text: refs.length === 0 ? label : `${label} ${written}` };
  });
  let text = replaceRanges(answer, edits);
  for (let depth = 0; depth < MOST_WRAPPERS; depth += 1) text = applyRules(text, JOIN_RULES);
  return applyRules(text, CLEANUP_RULES).replace(new RegExp(ANY, 'g'), (group) =>
    [...new Set(group.match(/\[\d+\]/g))].join(''),
  );
}

/** An answer without the characters that mark places while it is rewritten. */
export function removePlaceholders(answer: string): string {
  return answer.replaceAll(OPEN, '').replaceAll(CLOSE, '');
}

function applyRules(text: string, rules: readonly Rule[]): string {
  return rules.reduce((changed, [pattern, replacement]) => changed.replace(pattern, replacement), text);
}

/** The text of a link to keep; empty if it only names the source after the end of a sentence. */
function labelToKeep(answer: string, { start, end, label }: CitationMarker): string {
  const before = answer.slice(Math.max(0, start - 10), start);
  const after = answer.slice(end, end + 40);
  const isAlone = /[.!?]["'”’)]*[ \t]+$/.test(before) && /^[ \t]*(?:$|\n|[[【])/.test(after);
  const isWrapped = /[\s.]\($/.test(before) && after.startsWith(')');
  return isAlone || isWrapped ? '' : (label?.trim() ?? '');
}
