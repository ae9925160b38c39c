import { alignWords } from '../../src/judge/align-words.ts';
import type { JudgedPassage } from '../../src/judge/facts/evidence.ts';
import { verifyFacts } from '../../src/judge/facts/verify-facts.ts';
import { type SupportFeatures, toSupportFeatures } from '../../src/judge/support-features.ts';
import { type TextVectors, toTextVectors } from '../../src/judge/text-vectors.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { cacheFeatures } from './feature-cache.ts';
import type { SupportRow, SupportSet } from './support-sets.ts';

const MOST_KEPT = 200;

let lastSource: JudgedPassage = { text: '', title: '', headings: [] };

/** Joins the documents of a row. Consecutive rows with the same documents share the object, which is a cache key. */
export function sourceOf(documents: readonly string[]): JudgedPassage {
  const text = documents.join('\n\n');
  if (text !== lastSource.text) lastSource = { text, title: '', headings: [] };
  return lastSource;
}

/** The features of each row of a set, cached. */
export function supportExamples(
  set: SupportSet,
  rows: readonly SupportRow[],
  encoder: TokenEncoder,
): Promise<SupportFeatures[]> {
  const data = rows.map(({ claim, documents }) => ({ claim, documents }));
  return cacheFeatures('support', set, data, () => makeExamples(rows, encoder));
}

async function makeExamples(rows: readonly SupportRow[], encoder: TokenEncoder): Promise<SupportFeatures[]> {
  const kept = new Map<string, TextVectors>();
  async function read(text: string): Promise<TextVectors> {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const [encoded] = await encoder.encodeTokens([text]);
    if (encoded === undefined) throw new Error('the encoder gave nothing back');
    const made = toTextVectors(text, encoded, encoder.dimensions);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(text, made);
    return made;
  }
  const examples: SupportFeatures[] = [];
  for (const { claim, documents } of rows) {
    const passages: TextVectors[] = [];
    for (const document of documents) passages.push(await read(document));
    const [encoded] = await encoder.encodeTokens([claim]);
    if (encoded === undefined) throw new Error('the encoder gave nothing back');
    const facts = verifyFacts(claim, sourceOf(documents));
    examples.push(
      toSupportFeatures(alignWords(toTextVectors(claim, encoded, encoder.dimensions), passages), facts),
    );
  }
  return examples;
}
