import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rememberVectors } from '../../src/server/remember-vectors.ts';
import { createWordEmbedder } from '../support/word-embedder.ts';

test('the vectors are those of the embedder, whatever is asked for in whatever order', async () => {
  const plain = createWordEmbedder();
  const remembering = rememberVectors(createWordEmbedder(), 5);
  const text = fc.constantFrom('a', 'b', 'c', 'd e', 'f g h', 'i', 'j', 'k', 'l');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(text)), async (calls) => {
      const made = await Promise.all(calls.map((texts) => remembering.embedDocuments(texts)));
      const wanted = await Promise.all(calls.map((texts) => plain.embedDocuments(texts)));
      expect(made).toEqual(wanted);
    }),
  );
  expect(await remembering.embedQuery('a b')).toEqual(await plain.embedQuery('a b'));
});

test('a text is embedded once as long as it is remembered, even by calls at the same time', async () => {
  const embedder = createWordEmbedder();
  const remembering = rememberVectors(embedder, 3);
  await Promise.all([remembering.embedDocuments(['a', 'b', 'a']), remembering.embedDocuments(['b', 'c'])]);
  await remembering.embedDocuments(['c', 'a']);
  expect(embedder.embedded).toEqual(['a', 'b', 'c']);
  await remembering.embedDocuments(['d']);
  await remembering.embedDocuments(['a', 'c', 'd']);
  expect(embedder.embedded).toEqual(['a', 'b', 'c', 'd']);
  await remembering.embedDocuments(['b']);
  expect(embedder.embedded).toEqual(['a', 'b', 'c', 'd', 'b']);
});

test('a failure is not remembered', async () => {
  const embedder = createWordEmbedder();
  let failures = 1;
  const remembering = rememberVectors(
    {
      ...embedder,
      embedDocuments: async (texts) => {
        if (failures-- > 0) throw new Error('out of memory');
        return embedder.embedDocuments(texts);
      },
    },
    10,
  );
  await expect(remembering.embedDocuments(['a'])).rejects.toThrow('out of memory');
  expect(await remembering.embedDocuments(['a'])).toEqual(await embedder.embedDocuments(['a']));
});
