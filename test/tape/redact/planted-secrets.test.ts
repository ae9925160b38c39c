import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor } from '../../../src/faults/redactor.ts';
import { readTape } from '../../../src/tape/read-tape.ts';
import { joinStreamDeltas } from '../../../src/tape/redact/redact-chunks.ts';
import type { TapeExchange, TapeJson } from '../../../src/tape/tape-format.ts';
import { createTapeWriter } from '../../../src/tape/tape-writer.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';
import { sampleExchange, sampleHeader } from '../support/sample-tape.ts';

/** Keys of printable characters. */
const secret = fc
  .string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 12,
    maxLength: 60,
  })
  // A repetitive key, or one that is part of the surrounding text, would give false positives.
  .filter((text) => new Set(text).size > 6 && !/redacted|json|text|data/i.test(text));

type Encoding = (secret: string) => string;
const encodings: Record<string, Encoding> = {
  plain: (text) => text,
  'URL-encoded': encodeURIComponent,
  'in base64': (text) => Buffer.from(text).toString('base64'),
  'in base64 after a user name': (text) => Buffer.from(`user:${text}`).toString('base64'),
  'in base64 between others': (text) => Buffer.from(`ab${text}yz!`).toString('base64url'),
  'in JSON': (text) => JSON.stringify({ key: text }),
  'in JSON in JSON': (text) => JSON.stringify({ inner: JSON.stringify({ deep: text }) }),
  'in hex': (text) => Buffer.from(text).toString('hex'),
};

interface Place {
  plant(text: string): Partial<TapeExchange>;
}
const base = sampleExchange();
const response = base.response as NonNullable<TapeExchange['response']>;
const inRequest = (json: TapeJson) => ({ request: { ...base.request, body: { json } } });
const inResponse = (changes: Partial<typeof response>) => ({
  response: { ...response, body: undefined, ...changes },
});

const places: Record<string, Place> = {
  'a header that is kept': {
    plant: (text) => ({ request: { ...base.request, headers: { 'content-type': text } } }),
  },
  'a header that is not kept': {
    plant: (text) => ({
      request: { ...base.request, headers: { authorization: `Bearer ${text}`, cookie: text } },
    }),
  },
  'a header of the response': {
    plant: (text) => inResponse({ headers: { 'set-cookie': text, 'retry-after': text } }),
  },
  'the path': {
    plant: (text) => ({ request: { ...base.request, url: `https://a.test/${encodeURIComponent(text)}/x` } }),
  },
  'a parameter': {
    plant: (text) => ({
      request: { ...base.request, url: `https://a.test/?q=${encodeURIComponent(text)}&x=1` },
    }),
  },
  'the user name of the URL': {
    plant: (text) => ({
      request: { ...base.request, url: `https://me:${encodeURIComponent(text)}@a.test/` },
    }),
  },
  'a field of the body': {
    plant: (text) => inRequest({ messages: [{ role: 'user', content: `it is ${text}, yes` }] }),
  },
  'the name of a field': { plant: (text) => inRequest({ [`a${text}b`]: 1 }) },
  'a text': { plant: (text) => ({ request: { ...base.request, body: { text: `a=${text}&b=1` } } }) },
  bytes: {
    plant: (text) => ({
      request: {
        ...base.request,
        body: { base64: Buffer.from(`\xff\xfe${text}\x00`, 'latin1').toString('base64') },
      },
    }),
  },
  'the body of the response': { plant: (text) => inResponse({ body: { json: { deep: [{ er: text }] } } }) },
  'a failure': {
    plant: (text) => ({ response: undefined, failure: { name: 'TypeError', message: `no ${text}` } }),
  },
};

async function tapeWith(exchange: TapeExchange, key: string): Promise<{ text: string; path: string }> {
  const path = join(await createTemporaryDirectory(), 'planted.tape.json');
  const redactor = createRedactor({ secrets: [key] });
  const writer = createTapeWriter({
    path,
    redactor,
    header: sampleHeader({ inputs: { question: `about ${key}` } }),
  });
  writer.append(exchange);
  await writer.close({ answer: `The key is ${key}`, nested: [{ key }] });
  return { text: await readFile(path, 'utf8'), path };
}

for (const [place, { plant }] of Object.entries(places)) {
  test(`no encoding of a key in ${place} is written`, async () => {
    await fc.assert(
      fc.asyncProperty(secret, fc.constantFrom(...Object.keys(encodings)), async (key, name) => {
        const planted = (encodings[name] as Encoding)(key);
        const exchange = { ...base, ...plant(planted) } as TapeExchange;
        const { text, path } = await tapeWith(exchange, key);

        for (const encode of Object.values(encodings)) expect(text).not.toContain(encode(key));
        expect(text).not.toContain(JSON.stringify(key).slice(1, -1));
        const tape = readTape(path);
        const [read] = tape.exchanges;
        expect(JSON.stringify(read)).not.toContain(JSON.stringify(key).slice(1, -1));
        const bytes = read?.request.body && 'base64' in read.request.body ? read.request.body.base64 : '';
        expect(Buffer.from(bytes, 'base64').toString('latin1')).not.toContain(key);
      }),
      { numRuns: 40 },
    );
  });
}

test('no key that is split over the chunks of a stream is written', async () => {
  await fc.assert(
    fc.asyncProperty(secret, fc.array(fc.nat(400), { maxLength: 12 }), async (key, cuts) => {
      const text = `data: ${JSON.stringify({ delta: `before ${key} after` })}\n\ndata: [DONE]\n\n`;
      const at = [0, ...cuts.map((cut) => cut % text.length).sort((a, b) => a - b), text.length];
      const chunks = at.slice(1).map((end, index) => ({ delayMs: 1, data: text.slice(at[index], end) }));
      const exchange = { ...base, ...inResponse({ chunks }) } as TapeExchange;
      const { path } = await tapeWith(exchange, key);

      const tape = readTape(path);
      const [read] = tape.exchanges;
      const stream = (read?.response?.chunks ?? []).map(({ data }) => data).join('');
      expect(stream).not.toContain(JSON.stringify(key).slice(1, -1));
      expect(stream).toContain('before ');
      expect(stream).toContain(' after');
      expect(read?.response?.chunks).toHaveLength(chunks.length);
    }),
    { numRuns: 60 },
  );
});

test('no key that is split over the deltas of several events is written', async () => {
  await fc.assert(
    fc.asyncProperty(secret, fc.integer({ min: 1, max: 9 }), async (key, size) => {
      const words = `it is ${key} I think`;
      const parts = words.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const chunks = parts.map((content) => ({
        delayMs: 0,
        data: `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
      }));
      const { path } = await tapeWith({ ...base, ...inResponse({ chunks }) } as TapeExchange, key);

      const tape = readTape(path);
      const [read] = tape.exchanges;
      const said = joinStreamDeltas((read?.response?.chunks ?? []).map(({ data }) => data).join(''));
      expect(said.join('\n')).not.toContain(key);
      expect(said.join('\n')).toContain('it is [redacted]');
    }),
    { numRuns: 60 },
  );
});
