import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createDocumentParser } from '../../src/adapters/documents/parse-document.ts';
import { extractLinks } from '../../src/adapters/web/extract-links.ts';
import { createParserProcess, type ParseLimits } from '../../src/app/parser-process.ts';
import type { RawDocument } from '../../src/domain/document.ts';
import { AppError } from '../../src/faults/app-error.ts';
import { makeHostileDocuments } from '../support/hostile-documents.ts';

const hostile = new Map(makeHostileDocuments().map((document) => [document.file, document]));

function startParser(limits: Partial<ParseLimits> = {}) {
  const parser = createParserProcess({ seconds: 60, memoryMb: 512, outputMb: 128, ...limits });
  onTestFinished(parser.close);
  return parser;
}

function markdown(text: string): RawDocument {
  return { uri: 'file:///docs/page.md', mediaType: 'markdown', bytes: new TextEncoder().encode(text) };
}

/** One of the documents of `makeHostileDocuments`, or a long text. */
function hostileDocument(file: string): RawDocument {
  if (file === 'long.txt') return { ...markdown('word '.repeat(300_000)), mediaType: 'text' };
  const found = hostile.get(file);
  if (found === undefined) throw new Error(`no document ${file}`);
  return { uri: `file:///docs/${file}`, mediaType: found.mediaType, bytes: found.bytes };
}

/** The setting that the hint of a rejected document names. */
async function exceededSetting(parsing: Promise<unknown>): Promise<string | undefined> {
  const error = await parsing.then(
    () => new Error('It was parsed.'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AppError);
  const { kind, advice = [] } = error as AppError;
  expect(kind).toBe('invalid_input');
  return advice.flatMap((part) =>
    typeof part === 'object' && part.type === 'setting' ? [part.name] : [],
  )[0];
}

test('returns what the parser returns in this process', async () => {
  const document = markdown('# Title\n\nSome *words* in a row.\n\n```sh\nls -l\n```\n');
  expect(await startParser().parse(document)).toEqual(await createDocumentParser()(document));
});

test('passes on the errors of the parser', async () => {
  const binary = { ...markdown(''), bytes: new Uint8Array(1000).fill(0xff) };
  const error = await createDocumentParser()(binary).catch((reason: unknown) => reason);
  const { kind, message } = error as AppError;
  await expect(startParser().parse(binary)).rejects.toMatchObject({ name: 'AppError', kind, message });
});

test('extracts the links of a page', async () => {
  const page = { bytes: new TextEncoder().encode('<a href="b">x</a>'), url: 'https://docs.test/a' };
  expect(await startParser().extractLinks(page)).toEqual(extractLinks(page));
});

test.each([
  ['seconds', { seconds: 4 }, 'emphasis.md', 'maxParseSeconds'],
  ['heap', { memoryMb: 256 }, 'paragraphs.docx', 'maxParseMemoryMb'],
  ['output', { outputMb: 1 }, 'long.txt', 'maxParseOutputMb'],
] as const)(
  'a document beyond the limit of %s fails, the next is parsed',
  async (_, limits, file, setting) => {
    const parser = startParser(limits);
    const [rejected, next] = [parser.parse(hostileDocument(file)), parser.parse(markdown('# Next'))];
    expect(await exceededSetting(rejected)).toBe(setting);
    expect(await next).toMatchObject({ text: 'Next' });
  },
);

test('the memory of the whole process counts, not only the heap', async () => {
  // The program alone needs more than this, but less heap than three quarters of it.
  const parser = startParser({ memoryMb: 72 });
  expect(await exceededSetting(parser.parse(hostileDocument('brackets.md')))).toBe('maxParseMemoryMb');
});

test('stops parsing at once when the signal is aborted, and parses the next document', async () => {
  const parser = startParser();
  const stop = new AbortController();
  const reason = new Error('stopped');
  await parser.parse(markdown('The process runs.'));
  const parsing = parser.parse(hostileDocument('emphasis.md'), stop.signal);
  await setImmediate();
  stop.abort(reason);
  await expect(parsing).rejects.toBe(reason);
  await expect(parser.parse(markdown('x'), stop.signal)).rejects.toBe(reason);
  expect(await parser.parse(markdown('# Next'))).toMatchObject({ text: 'Next' });
});

test('fails the remaining documents when it is closed', async () => {
  const parser = startParser();
  const parsing = [parser.parse(hostileDocument('emphasis.md')), parser.parse(markdown('x'))];
  await setImmediate();
  parser.close();
  expect((await Promise.allSettled(parsing)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('refuses sheets by their dimensions, and reads a page of a book once', async () => {
  const parser = startParser();
  for (const file of ['far-cell.xlsx', 'named-cell.xlsx']) {
    await expect(parser.parse(hostileDocument(file))).rejects.toMatchObject({ kind: 'invalid_input' });
  }
  expect((await parser.parse(hostileDocument('spine.epub'))).blocks).toHaveLength(500);
});
