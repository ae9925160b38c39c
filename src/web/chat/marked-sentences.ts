import { cutAtSentences } from '../../text/split-sentences.ts';

/** A run of a passage's text, and whether the answer rests on it. */
interface Run {
  text: string;
  isMarked: boolean;
}

/** From this share of its words on, a sentence of the passage counts as what the answer says. */
const ENOUGH = 0.6;

/**
 * The passage in runs, with the sentences marked that the answer's cited sentences are made of; where none comes
 * near enough, the nearest one. Joined, the runs are the passage.
 */
export function markedSentences(passage: string, answer: string, marker: string): Run[] {
  const said = wordsOf(citedSentences(answer, marker).join(' ') || answer);
  const sentences = cutAtSentences(passage);
  const shares = sentences.map((sentence) => shareOf(wordsOf(sentence), said));
  const best = Math.max(...shares);
  const runs: Run[] = [];
  sentences.forEach((text, index) => {
    const share = shares[index] ?? 0;
    const isMarked = best > 0 && share >= Math.min(best, ENOUGH);
    const last = runs.at(-1);
    if (last?.isMarked === isMarked) last.text += text;
    else runs.push({ text, isMarked });
  });
  return runs;
}

/** The sentences that stand right before a marker. */
function citedSentences(answer: string, marker: string): string[] {
  const parts = answer.split(`[${marker}]`).slice(0, -1);
  return parts.map((before) => {
    const text = before.replace(/(?:\s*\[[^\]]+\])+\s*$/, '').trimEnd();
    const last = cutAtSentences(text).at(-1) ?? '';
    // What stands before another marker is that one's.
    return last.split(/\]\s+/).at(-1) ?? '';
  });
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []);
}

function shareOf(words: ReadonlySet<string>, said: ReadonlySet<string>): number {
  if (words.size === 0) return 0;
  let shared = 0;
  for (const word of words) if (said.has(word)) shared += 1;
  return shared / words.size;
}
