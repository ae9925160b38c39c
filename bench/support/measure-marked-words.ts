import type { SupportRow } from '../../scripts/fit/support-sets.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { STOP_WORDS } from '../../src/text/terms.ts';
import { createClaimJudge } from './measure-mutations.ts';

const SUPPORTED_SENTENCES = 600;

/** Compares words marked as unsupported with the annotated hallucinations of ragtruth_summary, on which nothing was fitted. */
export async function measureMarkedWords(rows: readonly SupportRow[], encoder: TokenEncoder) {
  const inSet = rows.filter(({ set }) => set === 'ragtruth_summary');
  const hallucinated = inSet.filter(({ spans }) => spans.length > 0);
  const supported = inSet.filter((row) => row.supported);
  const step = Math.max(1, Math.floor(supported.length / SUPPORTED_SENTENCES));
  const sample = supported.filter((_, index) => index % step === 0);
  const count = { marked: 0, correct: 0, hallucinated: 0, sentences: 0, withMarks: 0 };
  for (const row of [...hallucinated, ...sample]) {
    const { unsupportedSpans } = await (await createClaimJudge(row, encoder, undefined))(row.claim);
    if (row.spans.length === 0) {
      count.sentences += 1;
      count.withMarks += Number(unsupportedSpans.length > 0);
      continue;
    }
    const ranges = row.spans.flatMap((span) => {
      const start = row.claim.indexOf(span);
      return start < 0 ? [] : [{ start, end: start + span.length }];
    });
    const isHallucinated = (offset: number) =>
      ranges.some(({ start, end }) => offset >= start && offset < end);
    count.marked += unsupportedSpans.length;
    count.correct += unsupportedSpans.filter(({ start }) => isHallucinated(start)).length;
    for (const { 0: word, index } of row.claim.matchAll(/[\p{L}\p{N}]+/gu)) {
      if (isHallucinated(index) && !STOP_WORDS.has(word.toLowerCase())) count.hallucinated += 1;
    }
  }
  const share = (part: number, total: number) => (part / total).toFixed(2);
  console.log(
    `\nUnsupported words in ${hallucinated.length} hallucinated sentences: precision ${share(count.correct, count.marked)} of ${count.marked} marked words, recall ${share(count.correct, count.hallucinated)} of ${count.hallucinated} hallucinated words; ${share(count.withMarks, count.sentences)} of ${count.sentences} supported sentences have a marked word.`,
  );
  return count;
}
