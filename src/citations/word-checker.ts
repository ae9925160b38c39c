import type { ChunkStore, ChunkWords } from '../ports/chunk-store.ts';
import type { CitationChecker, CitedSentence, SentenceCheck } from '../ports/citation-checker.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { Reranker } from '../ports/reranker.ts';
import { memoize } from '../text/memoize.ts';
import { checkSentence, formatRefs } from './check-sentence.ts';
import { findQuote } from './match-sentence.ts';

/** Longer answers are compared by their words, which takes almost no time. */
const MOST_ENCODED_CHARACTERS = 16_000;
const RECENT_SENTENCES = 64;

interface WordCheckerOptions {
  store: Pick<ChunkStore, 'wordVectors'>;
  /** Null if no model may be loaded: sentences are then compared by their words. */
  embedder: (() => Promise<Embedder>) | null;
}

/**
 * The built-in check. It encodes the sentences only and reads the word vectors of the cited chunks from the store. Where
 * there are none, and where encoding fails, it compares the words themselves.
 */
export function createWordChecker({ store, embedder }: WordCheckerOptions): CitationChecker {
  /** Keeps the word vectors of recent sentences, so that those of a streamed answer can be encoded before it ends. */
  const encode = memoize({ size: RECENT_SENTENCES }, async (text: string) => {
    const encoded = await embedder?.().then((one) => one.embedWords?.([text]));
    return encoded?.[0]?.words ?? null;
  });

  /** The word vectors of the sentences, by their texts, and of the chunks that they cite. */
  async function readVectors(sentences: readonly CitedSentence[]) {
    const none = {
      ofSentences: new Map<string, Int8Array | null>(),
      ofChunks: new Map<string, ChunkWords>(),
    };
    const texts = [...new Set(sentences.map(({ text }) => text))];
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    if (embedder === null || length === 0 || length > MOST_ENCODED_CHARACTERS) return none;
    const chunkIds = sentences.flatMap(({ chunks }) => chunks.map(({ chunkId }) => chunkId));
    const ofChunks = await store.wordVectors([...new Set(chunkIds)]);
    if (ofChunks.size === 0) return none;
    const encoded = await Promise.all(texts.map(encode));
    return { ofSentences: new Map(texts.map((text, index) => [text, encoded[index] ?? null])), ofChunks };
  }

  const check: CitationChecker = async (sentences, { question, signal }) => {
    // Quotes need no vectors.
    const paraphrased = sentences.filter((sentence) => findQuote(sentence) === null);
    const vectors = await readVectors(paraphrased).catch(() => null);
    signal?.throwIfAborted();
    const checks = sentences.map((sentence) => {
      const words = vectors?.ofSentences.get(sentence.text) ?? null;
      return checkSentence({ ...sentence, words }, vectors?.ofChunks ?? new Map(), question);
    });
    return { checks, checkedBy: 'words' };
  };
  /** Asks the store nothing, so that a remote one gets the same requests. */
  const prepare = (sentences: readonly CitedSentence[]) => {
    const paraphrased = sentences.filter((sentence) => findQuote(sentence) === null);
    return Promise.all(paraphrased.map(({ text }) => encode(text))).catch(() => {});
  };
  return embedder === null ? check : Object.assign(check, { prepare });
}

/** Checks nothing: every citation of a retrieved chunk passes. */
export const noChecker: CitationChecker = async (sentences) => ({
  checks: sentences.map(() => ({ verdict: 'supported', reason: null, evidence: null })),
  checkedBy: 'off',
});

/**
 * Flags a sentence if a cross-encoder finds it entailed by each of its chunks with a lower probability than its
 * threshold. Quotes and evidence come from `words`. Throws if the cross-encoder cannot be loaded, since the user chose it.
 */
export function createEntailmentChecker(
  crossEncoder: () => Promise<Reranker>,
  words: CitationChecker,
): CitationChecker {
  return async (sentences, context) => {
    const { checks: byWords } = await words(sentences, context);
    const { rerank, scoreThreshold } = await crossEncoder();

    /** The chunk comes first, as such models are trained. */
    async function isEntailed({ text, chunks }: CitedSentence): Promise<boolean> {
      for (const chunk of chunks) {
        const [result] = await rerank(chunk.text, [text], 1, context.signal);
        if (result !== undefined && result.score >= scoreThreshold) return true;
      }
      return false;
    }

    const checks: SentenceCheck[] = [];
    for (const [index, sentence] of sentences.entries()) {
      const check = byWords[index] as SentenceCheck;
      if (check.verdict === 'quoted') checks.push(check);
      else if (await isEntailed(sentence)) checks.push({ ...check, verdict: 'supported', reason: null });
      else {
        const reason = `${formatRefs(sentence.refs)} does not entail this`;
        checks.push({ ...check, verdict: 'unsupported', reason: { kind: 'not_entailed', text: reason } });
      }
    }
    return { checks, checkedBy: 'onnx' };
  };
}
