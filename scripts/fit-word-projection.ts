import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findProgramWeights } from '../bench/support/load-embedder.ts';
import { SHARED_DATA } from '../bench/support/retrieval-set.ts';
import { ensureOnnxEngine } from '../src/adapters/onnx/engine.ts';
import { readVocabulary } from '../src/adapters/onnx/minilm-embedder.ts';
import { startModelPool } from '../src/adapters/onnx/model-pool.ts';
import { createModelThreads } from '../src/adapters/onnx/model-threads.ts';
import { ensureWeights } from '../src/adapters/onnx/weights.ts';
import { createTokenizer, toModelInput } from '../src/adapters/onnx/word-pieces.ts';
import { normalizeVector } from '../src/domain/unit-vectors.ts';
import { WORD_DIMENSIONS } from '../src/ports/embedder.ts';
import { findContentWords } from '../src/text/content-words.ts';

/*
 * Computes the principal components of word vectors, from passages of product documentation (multiturn) and news
 * (ragtruth_summary), and writes `src/adapters/onnx/word-projection.json`: `npm run fit:words`.
 */

const OUTPUT = fileURLToPath(new URL('../src/adapters/onnx/word-projection.json', import.meta.url));
const PASSAGES_PER_SOURCE = 1000;
const MIN_CHARACTERS = 200;
const MAX_CHARACTERS = 900;
const ITERATIONS = 60;

const MAX_TOKENS = 256;
const SPECIAL_TOKENS = 2;
/** Tokens that two neighbouring windows share; each is taken from the window with more context around it. */
const WINDOW_OVERLAP = 48;

const location = findProgramWeights();
await ensureWeights(location, {});
const engine = await ensureOnnxEngine(location);
const weights = { directory: location.directory };
const model = await startModelPool(createModelThreads(), { engine, weights, pooling: 'mean', bulk: true });
const tokenizer = createTokenizer(await readVocabulary(location));
const width = 384;
const mean = new Float64Array(width);
const products = new Float64Array(width * width);
let count = 0;
for (const text of [...takeEvenly(readDocumentation()), ...takeEvenly(readNews())]) {
  for (const vector of await embedContentWords(text)) {
    count += 1;
    for (let i = 0; i < width; i += 1) {
      const value = vector[i] as number;
      mean[i] = (mean[i] as number) + value;
      for (let j = 0; j <= i; j += 1) {
        products[i * width + j] = (products[i * width + j] as number) + value * (vector[j] as number);
      }
    }
  }
}
await model.stop();

for (let i = 0; i < width; i += 1) mean[i] = (mean[i] as number) / count;
const covariance = Array.from({ length: width }, (_, i) =>
  Float64Array.from({ length: width }, (_, j) => {
    const product = products[Math.max(i, j) * width + Math.min(i, j)] as number;
    return product / count - (mean[i] as number) * (mean[j] as number);
  }),
);
const components = findComponents(covariance);
const bytes = new Int8Array(WORD_DIMENSIONS * width);
const scales: number[] = [];
const offsets: number[] = [];
components.forEach((component, row) => {
  const scale = Math.max(...component.map(Math.abs)) / 127;
  scales.push(Number(scale.toPrecision(6)));
  component.forEach((value, i) => {
    bytes[row * width + i] = Math.round(value / scale);
  });
  offsets.push(Number(dot(component, mean).toPrecision(6)));
});
const json = { width, components: Buffer.from(bytes.buffer).toString('base64'), scales, offsets };
writeFileSync(OUTPUT, `${JSON.stringify(json)}\n`);
const total = covariance.reduce((sum, row, i) => sum + (row[i] as number), 0);
const kept = components.reduce((sum, one) => sum + dot(one, multiply(covariance, one)), 0);
process.stdout.write(
  `${count} words; ${WORD_DIMENSIONS} components keep ${((kept / total) * 100).toFixed(1)} % of the variance.\n`,
);

/** The unit vectors of the content words of a text, before projection. */
async function embedContentWords(text: string): Promise<Float32Array[]> {
  const { ids, starts, ends } = tokenizer.locate(text);
  const states = await encodeTokens(ids);
  let token = 0;
  return findContentWords(text).map(({ start, end }) => {
    while (token < starts.length && (ends[token] as number) <= start) token += 1;
    const sum = new Float32Array(width);
    for (; token < starts.length && (starts[token] as number) < end; token += 1) {
      for (let i = 0; i < width; i += 1) sum[i] = (sum[i] as number) + (states[token * width + i] as number);
    }
    return normalizeVector(sum);
  });
}

/** The vectors of all tokens, one after the other. A text longer than the model's input is read in overlapping windows. */
async function encodeTokens(ids: readonly number[]): Promise<Float32Array> {
  const states = new Float32Array(ids.length * width);
  for (const { start, end, from, to } of splitIntoWindows(ids.length, MAX_TOKENS - SPECIAL_TOKENS)) {
    const output = await model.encode(toModelInput(ids.slice(start, end), MAX_TOKENS));
    const first = (1 + from - start) * width;
    states.set(output.subarray(first, first + (to - from) * width), from * width);
  }
  return states;
}

interface TokenWindow {
  start: number;
  end: number;
  /** The tokens whose vectors are taken from this window. */
  from: number;
  to: number;
}

/** Overlapping windows of at most `size` tokens that cover all tokens. */
function splitIntoWindows(tokenCount: number, size: number): TokenWindow[] {
  const windows: TokenWindow[] = [];
  for (let start = 0; ; start += size - WINDOW_OVERLAP) {
    const end = Math.min(tokenCount, start + size);
    const isLast = end === tokenCount;
    const from = windows.at(-1)?.to ?? 0;
    windows.push({ start, end, from, to: isLast ? end : end - WINDOW_OVERLAP / 2 });
    if (isLast) return windows;
  }
}

/** The eigenvectors of the largest eigenvalues, by orthogonal iteration. */
function findComponents(matrix: readonly Float64Array[]): Float64Array[] {
  let basis: Float64Array[] = Array.from({ length: WORD_DIMENSIONS }, (_, row) =>
    Float64Array.from({ length: width }, (_, i) => Math.cos((row + 1) * (i + 0.5))),
  );
  for (let round = 0; round < ITERATIONS; round += 1) {
    basis = orthonormalize(basis.map((vector) => multiply(matrix, vector)));
  }
  // The sign of an eigenvector is arbitrary: its largest value is positive.
  return basis.map((vector) => {
    const largest = vector.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
    return vector.map((value) => value * Math.sign(largest));
  });
}

function orthonormalize(vectors: readonly Float64Array[]): Float64Array[] {
  const done: Float64Array[] = [];
  for (const vector of vectors) {
    for (const other of done) {
      const share = dot(vector, other);
      for (let i = 0; i < width; i += 1) vector[i] = (vector[i] as number) - share * (other[i] as number);
    }
    const length = Math.sqrt(dot(vector, vector)) || 1;
    done.push(vector.map((value) => value / length));
  }
  return done;
}

function multiply(matrix: readonly Float64Array[], vector: Float64Array): Float64Array {
  return Float64Array.from(matrix, (row) => dot(row, vector));
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}

function takeEvenly(texts: readonly string[]): string[] {
  const long = texts.map((text) => text.trim()).filter(({ length }) => length >= MIN_CHARACTERS);
  const step = Math.max(1, Math.floor(long.length / PASSAGES_PER_SOURCE));
  return long.filter((_, index) => index % step === 0).map((text) => text.slice(0, MAX_CHARACTERS));
}

function readDocumentation(): string[] {
  const lines = readFileSync(`${SHARED_DATA}/multiturn/corpus.jsonl`, 'utf8').trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { text: string }).text);
}

function readNews(): string[] {
  const file = readFileSync(`${SHARED_DATA}/support/ragtruth_summary.documents.json`, 'utf8');
  return Object.values(JSON.parse(file) as Record<string, string[]>).map((parts) => parts.join(' '));
}
