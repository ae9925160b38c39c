import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { createSqliteCatalog } from '../../src/adapters/sqlite/sqlite-catalog.ts';
import { ingestSources } from '../../src/ingest/ingest.ts';
import type { DocumentSource } from '../../src/ports/document-source.ts';
import type { Embedder } from '../../src/ports/embedder.ts';
import type { MemoryReport } from '../speed/memory.ts';
import { withTemporaryDirectory } from '../support/measure.ts';
import { readBookWords } from '../support/sample-book.ts';
import { createRandom, createTextSource } from '../support/synthetic.ts';

const DIMENSIONS = 384;
const PARAGRAPHS = 20;
/** One paragraph fits into a chunk, two do not. */
const WORDS_PER_PARAGRAPH = 130;
const ROOT = 'https://generated.test/';

// Ingests generated chunks with an embedder that takes no time, and prints a MemoryReport.
const chunkCount = Number(process.argv[2]);
const words = await readBookWords();
let bytesRead = 0;

const source: DocumentSource = {
  total: null,
  covers: () => false,
  async *entries() {
    for (let document = 0; document < chunkCount / PARAGRAPHS; document += 1) {
      const uri = `${ROOT}${document}.txt`;
      yield {
        uri,
        root: ROOT,
        relativePath: `${document}.txt`,
        async read() {
          const text = createTextSource(words, createRandom(document));
          const paragraphs = Array.from({ length: PARAGRAPHS }, () => text.paragraph(WORDS_PER_PARAGRAPH));
          const bytes = Buffer.from(paragraphs.join('\n\n'));
          bytesRead += bytes.length;
          return { uri, mediaType: 'text', bytes };
        },
      };
    }
  },
};

const embedder: Embedder = {
  id: 'fake',
  dimensions: DIMENSIONS,
  maxTokens: 256,
  batchSize: 32,
  scoreThreshold: 0,
  countTokens: (text) => Math.ceil(text.split(' ').length * 1.3),
  embedDocuments: async (texts) => texts.map(vectorOf),
  embedQuery: async (text) => vectorOf(text),
  close: async () => {},
};

/** A unit vector that depends on the text. */
function vectorOf(text: string): Float32Array {
  let seed = 0;
  for (let i = 0; i < text.length; i += 1) seed = (Math.imul(seed, 31) + text.charCodeAt(i)) | 0;
  const random = createRandom(seed);
  const vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

await withTemporaryDirectory(async (directory) => {
  const started = performance.now();
  const identity = { embedder: embedder.id, dimensions: DIMENSIONS };
  const store = await createSqliteCatalog(directory).openOrCreate('generated', identity);
  const { chunks } = await ingestSources(
    [source],
    {
      store,
      parse: createDocumentParser(),
      embedder: async () => embedder,
      stillExists: async () => true,
      hasWords: true,
    },
    { prune: false },
  );
  await store.close();
  const report: MemoryReport = {
    chunks,
    seconds: Math.round((performance.now() - started) / 1000),
    peakMb: Math.round(process.resourceUsage().maxRSS / 1024),
    corpusMb: Math.round((bytesRead + chunks * DIMENSIONS * Float32Array.BYTES_PER_ELEMENT) / 2 ** 20),
  };
  console.log(JSON.stringify(report));
});
