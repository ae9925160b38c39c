import type { SupportRow } from '../../scripts/fit/support-sets.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { STOP_WORDS } from '../../src/text/terms.ts';
import { readRow } from './measure-mutations.ts';

const SUPPORTED_SENTENCES = 600;

/**
 * Holds the words that are marked as borne out by nothing against the made-up words that annotators marked in
 * ragtruth_summary. Nothing is fitted to these marks.
 */
export async function measureMarkedWords(rows: readonly SupportRow[], encoder: TokenEncoder) {
  const ofSet = rows.filter(({ set }) => set === 'ragtruth_summary');
  const madeUp = ofSet.filter(({ spans }) => spans.length > 0);
  const supported = ofSet.filter((row) => row.supported);
  const step = Math.max(1, Math.floor(supported.length / SUPPORTED_SENTENCES));
  const sample = supported.filter((_, index) => index % step === 0);
  const count = { marked: 0, rightly: 0, madeUp: 0, sentences: 0, withMarks: 0 };
  for (const row of [...madeUp, ...sample]) {
    const { unsupportedSpans } = await (await readRow(row, encoder, undefined))(row.claim);
    if (row.spans.length === 0) {
      count.sentences += 1;
      count.withMarks += Number(unsupportedSpans.length > 0);
      continue;
    }
    const ranges = row.spans.flatMap((span) => {
      const start = row.claim.indexOf(span);
      return start < 0 ? [] : [{ start, end: start + span.length }];
    });
    const isMadeUp = (at: number) => ranges.some(({ start, end }) => at >= start && at < end);
    count.marked += unsupportedSpans.length;
    count.rightly += unsupportedSpans.filter(({ start }) => isMadeUp(start)).length;
    for (const { 0: word, index } of row.claim.matchAll(/[\p{L}\p{N}]+/gu)) {
      if (isMadeUp(index) && !STOP_WORDS.has(word.toLowerCase())) count.madeUp += 1;
    }
  }
  const share = (part: number, of: number) => (part / of).toFixed(2);
  console.log(
    `\nMarked words of ${madeUp.length} sentences with made-up words: ${share(count.rightly, count.marked)} of the ${count.marked} marked words are made up, ${share(count.rightly, count.madeUp)} of the ${count.madeUp} made-up words are marked; ${share(count.withMarks, count.sentences)} of ${count.sentences} supported sentences have a marked word.`,
  );
  return count;
}
