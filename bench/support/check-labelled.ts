import { CHECK_LIMITS, checkSentence } from '../../src/citations/check-sentence.ts';
import type { RetrievedChunk } from '../../src/domain/retrieved-chunk.ts';
import type { ChunkWords } from '../../src/ports/chunk-store.ts';
import type { SentenceCheck } from '../../src/ports/citation-checker.ts';
import { WORD_DIMENSIONS } from '../../src/ports/embedder.ts';
import { bestCosines } from '../../src/retrieval/word-similarity.ts';
import { findContentWords } from '../../src/text/content-words.ts';
import type { LabelledPassage, LabelledSentence } from './labelled-sentences.ts';
import type { EmbedWords } from './word-vector-cache.ts';

/** Checks claims against the passages of a labelled sentence as the program does. Without `embed`, by words alone. */
export async function createLabelledCheck(
  { passages, question }: LabelledSentence,
  embed: EmbedWords | null,
  limits = CHECK_LIMITS,
): Promise<(claim: string) => Promise<SentenceCheck>> {
  const chunks = toLabelledChunks(passages);
  const embedded = embed === null ? [] : await embedPassages(passages, embed);
  const vectors = new Map(
    embedded.map(({ words, split }, index): [string, ChunkWords] => [
      String(index + 1),
      { text: words.slice(split), path: words.slice(0, split) },
    ]),
  );
  return async (claim) => {
    const [words = null] = (await embed?.([claim])) ?? [];
    return checkSentence({ text: claim, refs: ['1'], chunks, words }, vectors, question, limits);
  };
}

export function toLabelledChunks(passages: readonly LabelledPassage[]): RetrievedChunk[] {
  return passages.map(({ title, text }, index) => ({
    chunkId: String(index + 1),
    text,
    score: 1,
    rank: index + 1,
    url: `passage-${index + 1}`,
    title,
    chunkIndex: index,
    module: null,
    chapter: null,
    headings: [],
    tokenCount: 1,
    contentHash: '-',
  }));
}

/** The mean over the content words of a claim of their best cosine in the most similar of its passages. */
export async function measureSimilarity(
  { claim, passages }: LabelledSentence,
  embed: EmbedWords,
): Promise<number> {
  const [words = new Int8Array()] = await embed([claim]);
  const means = (await embedPassages(passages, embed)).map((passage) => {
    const best = bestCosines(words, passage.words);
    return best.reduce((sum, cosine) => sum + cosine, 0) / Math.max(1, best.length);
  });
  return Math.max(...means);
}

/** Their word vectors, with those of the title before `split`. */
async function embedPassages(passages: readonly LabelledPassage[], embed: EmbedWords) {
  const embedded = await embed(passages.map(({ title, text }) => `${title}\n${text}`));
  return embedded.map((words, index) => ({
    words,
    split: findContentWords(passages[index]?.title ?? '').length * WORD_DIMENSIONS,
  }));
}
