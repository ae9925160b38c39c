import { expect, test } from 'vitest';
import {
  createDocumentParser,
  createInterruptibleParser,
} from '../../../src/adapters/documents/parse-document.ts';
import type { RawDocument } from '../../../src/domain/document.ts';

/** Above what is read on the spot. */
function large(text: string, mediaType: RawDocument['mediaType'] = 'markdown'): RawDocument {
  const whole = text.repeat(Math.ceil((600 * 1024) / text.length));
  return { uri: 'file:///docs/large.md', mediaType, bytes: new TextEncoder().encode(whole) };
}

test('parses a large document like any other', async () => {
  const document = large(
    `# Title\n\nSome *words* in a row.\n\n\`\`\`sh\n${'ls -l\n'.repeat(2000)}\`\`\`\n\n`,
  );
  expect(await createInterruptibleParser()(document)).toEqual(await createDocumentParser()(document));
});

test('reports errors of a large document like any other', async () => {
  const broken = { ...large('words '), bytes: new Uint8Array(600 * 1024).fill(0xff) };
  const fault = await createDocumentParser()(broken).catch((error: unknown) => error);
  await expect(createInterruptibleParser()(broken)).rejects.toMatchObject({
    kind: 'invalid_input',
    message: (fault as Error).message,
  });
});

test('stops parsing a large document when the signal is aborted', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const reading = createInterruptibleParser()(
    large('- an *item* with [a link](x)\n  - and one below\n\n'),
    stop.signal,
  );
  stop.abort(reason);
  await expect(reading).rejects.toBe(reason);
  await expect(createInterruptibleParser()(large('x '), AbortSignal.abort(reason))).rejects.toBe(reason);
});
