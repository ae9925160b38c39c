import { documentAddress } from '../domain/source-address.ts';
import type { ChunkStore, DocumentRecord } from '../ports/chunk-store.ts';
import { splitPassageParts } from '../text/passage-parts.ts';
import { oneLine } from '../text/visible-text.ts';

const MAX_DESCRIPTION_CHARACTERS = 300;
/** Shorter sentences are captions and badges. */
const MIN_SENTENCE_WORDS = 5;
const ROOT_NAMES = ['index', 'readme', 'home'];

/**
 * Sets the description of a collection, by default, if it has none, the title and first sentence of its root document:
 * `index`, `README` or the start page of a site.
 */
export async function describeCollection(store: ChunkStore, given?: string): Promise<void> {
  if (store.describe === undefined) return;
  const { description } = await store.info();
  if (given !== undefined) {
    const wanted = oneLine(given, MAX_DESCRIPTION_CHARACTERS) || null;
    if (wanted !== (description ?? null)) await store.describe(wanted);
    return;
  }
  if (description) return;
  const root = findRootDocument(await Array.fromAsync(store.documents()));
  const [stored] = root === undefined ? [] : await store.read([root.uri]);
  if (stored === undefined) return;
  const sentence = firstSentence(stored.chunks.map(({ text }) => text));
  const { title } = stored.document;
  const text =
    sentence === null || sentence.startsWith(title) ? (sentence ?? title) : `${title}: ${sentence}`;
  await store.describe(oneLine(text, MAX_DESCRIPTION_CHARACTERS));
}

function findRootDocument(documents: readonly DocumentRecord[]): DocumentRecord | undefined {
  const rankOf = (document: DocumentRecord) => {
    const address = documentAddress(document);
    const path = /^https?:/.test(address) ? address.slice(document.root.length) : address;
    const name = path.toLowerCase().replace(/\.\w+$/, '');
    return document.uri === document.root ? 0 : ROOT_NAMES.indexOf(name);
  };
  return documents.filter((document) => rankOf(document) >= 0).sort((a, b) => rankOf(a) - rankOf(b))[0];
}

function firstSentence(texts: readonly string[]): string | null {
  for (const text of texts) {
    for (const { kind, sentences } of splitPassageParts(text)) {
      if (kind !== 'paragraph' && kind !== 'label') continue;
      for (const { start, end } of sentences) {
        const sentence = text.slice(start, end).replace(/\s+/g, ' ').trim();
        if (sentence.split(' ').length >= MIN_SENTENCE_WORDS) return sentence;
      }
    }
  }
  return null;
}
