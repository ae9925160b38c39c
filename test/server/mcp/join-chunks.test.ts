import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunkDocument } from '../../../src/ingest/chunk-document.ts';
import { joinChunks } from '../../../src/server/mcp/source-resources.ts';
import { createWordEmbedder } from '../../support/word-embedder.ts';

const { countTokens } = createWordEmbedder();
const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim();

const sentence = fc
  .array(fc.stringMatching(/^[a-zäß0-9]{1,9}$/), { minLength: 1, maxLength: 12 })
  .map((words) => `${words.join(' ')}.`);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 12 }).map((sentences) => sentences.join(' '));

test('restores the text of overlapping chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(paragraph, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 8, max: 60 }),
      async (paragraphs, maxTokens) => {
        const text = paragraphs.join('\n\n');
        let start = 0;
        const blocks = paragraphs.map((content) => {
          const block = { kind: 'paragraph' as const, depth: 0, start, end: start + content.length };
          start = block.end + 2;
          return block;
        });
        const parsed = { title: null, metadata: {}, text, blocks };
        const chunks = await chunkDocument(parsed, { title: '', maxTokens, countTokens });
        expect(squeezed(joinChunks('', [...chunks].reverse()))).toBe(squeezed(text));
      },
    ),
  );
});

test('writes each heading once, below the title', () => {
  const text = joinChunks('Handbook', [
    { text: 'Welcome.', start: 12, chunkIndex: 0, headings: [] },
    { text: 'Ask early.', start: 40, chunkIndex: 1, headings: ['Leave', 'How'] },
    { text: 'Ask in writing.', start: 51, chunkIndex: 2, headings: ['Leave', 'How'] },
    { text: 'Thirty days.', start: 90, chunkIndex: 3, headings: ['Leave', 'How much'] },
  ]);
  expect(text).toBe(
    '# Handbook\n\nWelcome.\n\n## Leave\n\n### How\n\nAsk early.\nAsk in writing.\n\n### How much\n\nThirty days.',
  );
});

test('joins chunks without offsets one after the other', () => {
  const chunks = ['One.', 'A longer two.', 'Three.'].map((text, chunkIndex) => ({
    text,
    start: 0,
    chunkIndex,
    headings: [],
  }));
  expect(joinChunks('', chunks)).toBe('One.\n\nA longer two.\n\nThree.');
});

test('does not repeat a heading that a chunk contains', () => {
  const text = joinChunks('', [
    { text: 'Welcome.\n\nLeave\n\nAsk early.', start: 0, chunkIndex: 0, headings: [] },
    { text: 'Ask in writing.', start: 29, chunkIndex: 1, headings: ['Leave'] },
  ]);
  expect(text).toBe('Welcome.\n\nLeave\n\nAsk early.\n\nAsk in writing.');
});
