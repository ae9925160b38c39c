import { createHash } from 'node:crypto';
import { chunkId } from '../src/domain/chunk-id.ts';
import { estimateTokens } from '../src/domain/estimate-tokens.ts';
import { createRetrievalContext } from '../src/domain/retrieval-context.ts';
import type { RetrievedChunk } from '../src/domain/retrieved-chunk.ts';
import type { Retriever } from '../src/retrieval/create-retriever.ts';
import { chapters } from './sample-book.ts';

const WORDS_IN_A_PASSAGE = 110;
const SCORE_THRESHOLD = 0.3;

/** A retriever that takes no time: every query brings the next passages of the sample book. */
export async function createInstantRetriever(): Promise<Retriever> {
  const passages = await bookPassages();
  let next = 0;
  return {
    async retrieve({ text, topK, filter }) {
      const chunks = Array.from(
        { length: topK },
        (_, index) => passages[(next + index) % passages.length] as RetrievedChunk,
      );
      next += topK;
      const context = createRetrievalContext({
        query: text,
        filter,
        chunks,
        scoreThreshold: SCORE_THRESHOLD,
        queryTimeMs: 0,
        retrievedAt: new Date().toISOString(),
      });
      return { context, hits: [] };
    },
  };
}

async function bookPassages(): Promise<RetrievedChunk[]> {
  return (await chapters()).flatMap(({ path, text }) => {
    const [module = null] = path.split('/');
    const url = `https://book.test/${path}`;
    const prose = text.split(/\n{2,}/).filter((paragraph) => /^[A-Z][^|`]+\.$/s.test(paragraph));
    const words = prose.join(' ').split(/\s+/);
    return Array.from({ length: Math.floor(words.length / WORDS_IN_A_PASSAGE) }, (_, chunkIndex) => {
      const start = chunkIndex * WORDS_IN_A_PASSAGE;
      const passage = words.slice(start, start + WORDS_IN_A_PASSAGE).join(' ');
      return {
        chunkId: chunkId(url, chunkIndex),
        text: passage,
        score: 0.6,
        url,
        title: path,
        chunkIndex,
        module,
        chapter: null,
        headings: [],
        tokenCount: estimateTokens(passage),
        contentHash: createHash('sha256').update(passage).digest('hex'),
      };
    });
  });
}
