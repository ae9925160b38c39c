import { createHash } from 'node:crypto';
import { createChunkId } from '../domain/document.ts';
import { lineRange } from '../domain/location.ts';
import { ATTACHED_TEXT_URL } from '../domain/prompts.ts';
import { createRetrievalContext, type RetrievalContext } from '../domain/retrieval-context.ts';
import type { RetrievedChunk } from '../domain/retrieved-chunk.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import { indexTerms, queryTerms } from '../text/terms.ts';

const TITLE = 'Standard input';
const CHUNK_CHARACTERS = 1200;
/** The attached text may use this share of the passage tokens. */
const ATTACHED_SHARE = 0.5;

type AttachedChunk = Omit<RetrievedChunk, 'rank'>;

/** The passages of a search, preceded by chunks of a text that the user attached. */
export function prependAttachedText(
  context: RetrievalContext,
  text: string,
  question: string,
  passageTokens: number,
): RetrievalContext {
  const chunks = splitIntoChunks(text);
  const chosen = chooseChunks(chunks, question, passageTokens * ATTACHED_SHARE);
  const isCut = chosen.length < chunks.length;
  const cutNote = `Only ${chosen.length} of ${chunks.length} parts of the attached text fit into the model's window: those closest to the question, and the end.`;
  return createRetrievalContext({
    ...context,
    chunks: [...chosen, ...context.chunks],
    totalFound: context.totalFound + chosen.length,
    notes: isCut ? [...context.notes, cutNote] : context.notes,
  });
}

/** Chunks of whole lines; longer lines are cut. */
function splitIntoChunks(text: string): AttachedChunk[] {
  // Part of the ids, so that a text attached later is another source.
  const version = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const chunks: AttachedChunk[] = [];
  let pending: string[] = [];
  let firstLine = 1;
  const closeChunk = (nextLine: number) => {
    const chunkText = pending.join('\n').trimEnd();
    if (chunkText.trim() !== '') {
      chunks.push({
        chunkId: createChunkId(`${ATTACHED_TEXT_URL}:${version}`, chunks.length),
        text: chunkText,
        score: 1,
        url: ATTACHED_TEXT_URL,
        title: TITLE,
        chunkIndex: chunks.length,
        module: null,
        chapter: null,
        headings: [],
        location: lineRange(firstLine, Math.max(firstLine, nextLine - 1)),
        tokenCount: Math.max(1, estimateTokens(chunkText)),
        contentHash: createHash('sha256').update(chunkText).digest('hex'),
      });
    }
    pending = [];
    firstLine = nextLine;
  };
  const allLines = text.replace(/\n$/, '').split('\n');
  allLines.forEach((line, index) => {
    for (let at = 0; at === 0 || at < line.length; at += CHUNK_CHARACTERS) {
      const part = line.slice(at, at + CHUNK_CHARACTERS);
      const length = pending.reduce((sum, each) => sum + each.length + 1, 0);
      if (pending.length > 0 && length + part.length > CHUNK_CHARACTERS) closeChunk(index + 1);
      pending.push(part);
    }
  });
  closeChunk(allLines.length + 1);
  return chunks;
}

/** The last chunk and those that share most words with the question, later ones first, as far as the tokens go. */
function chooseChunks(
  chunks: readonly AttachedChunk[],
  question: string,
  maxTokens: number,
): AttachedChunk[] {
  const terms = new Set(queryTerms(question));
  const sharedTerms = ({ text, chunkIndex }: AttachedChunk) =>
    chunkIndex === chunks.length - 1
      ? Number.POSITIVE_INFINITY
      : new Set(indexTerms(text).filter((term) => terms.has(term))).size;
  let tokensLeft = maxTokens;
  const chosen = new Set<string>();
  const ranked = chunks
    .map((chunk) => ({ chunk, shared: sharedTerms(chunk) }))
    .sort((a, b) => b.shared - a.shared || b.chunk.chunkIndex - a.chunk.chunkIndex);
  for (const { chunk } of ranked) {
    if (chunk.tokenCount > tokensLeft && chosen.size > 0) continue;
    tokensLeft -= chunk.tokenCount;
    chosen.add(chunk.chunkId);
  }
  return chunks.filter(({ chunkId: id }) => chosen.has(id));
}
