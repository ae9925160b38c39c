import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { glob } from 'tinyglobby';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { createChunkId } from '../../src/domain/document.ts';
import { createRetrievalContext } from '../../src/domain/retrieval-context.ts';
import type { RetrievedChunk } from '../../src/domain/retrieved-chunk.ts';
import { chunkDocument } from '../../src/ingest/chunk-document.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { Retriever } from '../../src/retrieval/create-retriever.ts';
import { estimateTokens } from '../../src/text/estimate-tokens.ts';

const WORDS_PER_PASSAGE = 110;
const SCORE_THRESHOLD = 0.3;

/** Creates a retriever that takes no time: every query returns the next passages of the sample book. */
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

/** Passages of about the size of a chunk. */
export async function bookPassages(): Promise<Omit<RetrievedChunk, 'rank'>[]> {
  return (await readChapters()).flatMap(({ path, text }) => {
    const [module = null] = path.split('/');
    const url = `https://book.test/${path}`;
    const prose = text.split(/\n{2,}/).filter((paragraph) => /^[A-Z][^|`]+\.$/s.test(paragraph));
    const words = prose.join(' ').split(/\s+/);
    return Array.from({ length: Math.floor(words.length / WORDS_PER_PASSAGE) }, (_, chunkIndex) => {
      const start = chunkIndex * WORDS_PER_PASSAGE;
      const passage = words.slice(start, start + WORDS_PER_PASSAGE).join(' ');
      return {
        chunkId: createChunkId(url, chunkIndex),
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

const BOOK = fileURLToPath(new URL('../../fixtures/book', import.meta.url));

export async function readChapters(): Promise<{ path: string; text: string }[]> {
  const paths = (await glob('**/*.md', { cwd: BOOK })).sort();
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(BOOK, path), 'utf8') })));
}

/** Writes editions of the sample book. Titles contain the edition, so that no two editions share an embedded text. */
export async function writeEditions(directory: string, first: number, last: number): Promise<void> {
  for (const { path, text } of await readChapters()) {
    for (let edition = first; edition <= last; edition += 1) {
      const folder = join(directory, `edition-${edition}`, path, '..');
      await mkdir(folder, { recursive: true });
      const titled = text.replace(
        /^title: *(.*)$/m,
        (_, title: string) => `title: Edition ${edition}, ${title}`,
      );
      await writeFile(join(folder, basename(path)), titled);
    }
  }
}

/** Writes short, different files of a few paragraphs. */
export async function writeShortFiles(directory: string, count: number): Promise<void> {
  const paragraphs = (await readChapters()).flatMap(({ text }) =>
    text.split(/\n{2,}/).filter((paragraph) => /^[A-Z][^|]{200,}$/.test(paragraph)),
  );
  await mkdir(directory, { recursive: true });
  for (let file = 0; file < count; file += 1) {
    const body = [0, 1].map((offset) => paragraphs[(file + offset) % paragraphs.length]).join('\n\n');
    await writeFile(join(directory, `note-${file}.md`), `# Note ${file}\n\n${body}\n`);
  }
}

/** The words of the book in order, as a natural distribution to draw from. */
export async function readBookWords(): Promise<string[]> {
  const all = (await readChapters()).map(({ text }) => text.replace(/^---\n.*?\n---\n/s, '')).join('\n');
  return all.match(/[\p{L}][\p{L}\p{N}_.-]*[\p{L}\p{N}]/gu) ?? [];
}

/** Evenly spaced chunks of the sample book, as they are embedded. */
export async function sampleChunks(count: number, { maxTokens, countTokens }: Embedder): Promise<string[]> {
  const parse = createDocumentParser();
  const texts: string[] = [];
  for (const { path, text } of await readChapters()) {
    const bytes = Buffer.from(text);
    const parsed = await parse({ uri: pathToFileURL(path).href, mediaType: 'markdown', bytes });
    const chunks = await chunkDocument(parsed, { title: parsed.title ?? path, maxTokens, countTokens });
    texts.push(...chunks.map((chunk) => chunk.embedded));
  }
  return Array.from({ length: Math.min(count, texts.length) }, (_, index) =>
    String(texts[Math.floor((index * texts.length) / Math.min(count, texts.length))]),
  );
}
