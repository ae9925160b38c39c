import { expect, test } from 'vitest';
import { createRedactor } from '../../src/faults/redactor.ts';
import { parseEventPayloads, redactChunks } from '../../src/tape/redact/redact-chunks.ts';
import { redactExchange, redactUrl } from '../../src/tape/redact/redact-exchange.ts';
import { threadCpuTimeMs } from '../support/cpu-time.ts';
import { sampleExchange } from '../tape/support/sample-tape.ts';

const redactor = createRedactor();
const R = '[redacted]';

test.each([
  ['sk-abcdefghijklmnop1234', R],
  ['sk_live_abcdefghijklmnop', R],
  ['ghp_abcdefghijklmnop1234', R],
  ['xai-abcdefghijklmnop1234', R],
  [`npm_${'a1B2'.repeat(9)}`, R],
  [
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${'b3BlbnNz'.repeat(8)}\nAAAA==\n-----END OPENSSH PRIVATE KEY-----`,
    R,
  ],
  [`-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADAN\\n-----END PRIVATE KEY-----\\n`, `${R}\\n`],
  [`${'MIIEvQIB'.repeat(8)}\nQAB=\n-----END RSA PRIVATE KEY-----`, R],
  ['AKIAABCDEFGHIJKLMNOP', R],
  [`AIza${'a'.repeat(35)}`, R],
  ['eyJhbGciOiJI.eyJzdWIiOiIx.signature', R],
  ['org-abcdefghijklmnop', R],
  ['proj_abcdefghijklmnop', R],
  ['Authorization: Bearer abcdefgh12345', `Authorization: Bearer ${R}`],
  ['{"api_key": "short"}', `{"api_key": "${R}"}`],
  ['{\\"password\\":\\"hunter2\\"}', `{\\"password\\":\\"${R}\\"}`],
  ['see https://a.test/?x=1&token=abc&y=2', `see https://a.test/?x=1&token=${R}&y=2`],
  ['https://me:secret@a.test/', `https://${R}@a.test/`],
])('removes %s from a text', (text, redacted) => {
  expect(redactor.text(text)).toBe(redacted);
  expect(redactor.text(`before ${text} after`)).toBe(`before ${redacted} after`);
});

test('removes a private key that is cut off', () => {
  const cut = `it is -----BEGIN EC PRIVATE KEY-----\n${'MHcCAQEE'.repeat(9)}\nMHcC… and so on`;
  expect(redactor.text(cut)).toBe(`it is ${R}… and so on`);
});

test('scans long base64 texts quickly', () => {
  const lines = `${'QUJDRA+/'.repeat(9)}\n`.repeat(20_000);
  const started = threadCpuTimeMs();
  expect(redactor.text(lines)).toBe(lines);
  expect(threadCpuTimeMs() - started).toBeLessThan(20_000);
});

test.each([
  'sk-too-short',
  'npm_config_registry',
  'a file that begins with -----BEGIN PUBLIC KEY-----',
  'a task-abcdefghijklmnop1234 by name',
  'org-chart',
  'the password is not told',
  'Bearer short',
  'https://a.test/?x=1&tokens=5',
])('does not redact %s', (text) => {
  expect(redactor.text(text)).toBe(text);
});

test('redacts fields by name unless they are null', () => {
  const value = {
    api_key: 'x',
    Authorization: 7,
    password: { a: 1 },
    cookie: null,
    keyboard: 'x',
    list: [{ apikey: 'y' }],
  };
  expect(redactor.value(value)).toEqual({
    api_key: R,
    Authorization: R,
    password: R,
    cookie: null,
    keyboard: 'x',
    list: [{ apikey: R }],
  });
});

test('finds a configured key in any case, as a number and as a field name, but no short one', () => {
  const own = createRedactor({ secrets: ['12345678', 'Own-Secret', 'none'] });
  expect(own.value({ number: 12345678, other: 1234567, 'own-secret': 'x OWN-SECRET y none' })).toEqual({
    number: R,
    other: 1234567,
    [R]: `x ${R} y none`,
  });
  expect([own.holdsSecret('an own-secret'), own.holdsSecret('none')]).toEqual([true, false]);
  expect(createRedactor().holdsSecret('anything')).toBe(false);
  expect(createRedactor({ secrets: ['12345678'] }).holdsSecret('1234567')).toBe(false);
});

test('merges overlapping matches and keeps separate ones apart', () => {
  const own = createRedactor({ patterns: ['abc', 'cde', 'x+'] });
  expect(own.text('1 abcde 2 abc cde xx')).toBe(`1 ${R} 2 ${R} ${R} ${R}`);
  // The longer match, which starts earlier, wins.
  expect(createRedactor({ patterns: ['abcdef', 'bc'] }).text('abcdefg')).toBe(`${R}g`);
  expect(createRedactor({ patterns: ['y*'] }).text('abc')).toBe('abc');
});

test('redacts the group of a pattern that has one', () => {
  expect(createRedactor({ patterns: ['id=(\\d+)'] }).text('id=12, id=3')).toBe(`id=${R}, id=${R}`);
  expect(() => createRedactor({ patterns: ['('] })).toThrow('The pattern ( is not a regular expression.');
});

test('overwrites secrets in bytes and keeps the length', () => {
  const own = createRedactor({ secrets: ['own-secret'] });
  const bytes = Buffer.from('\x00own-secret\xff', 'latin1');
  expect(Buffer.from(own.bytes(bytes)).toString('latin1')).toBe(`\x00${'x'.repeat(10)}\xff`);
  expect(own.bytes(Buffer.from('plain')).toString()).toBe('plain');
  expect(bytes.toString('latin1')).toContain('own-secret');
});

test('removes login, fragment and secret parameters from a URL', () => {
  expect(redactUrl('https://me:pw@a.test/p?key=abc&q=1&auth=&sig=x#part', redactor)).toBe(
    'https://a.test/p?key=redacted&q=1&auth=&sig=redacted',
  );
  const own = createRedactor({ secrets: ['own secret'] });
  expect(redactUrl('https://a.test/own%20secret/x', own)).toBe('https://a.test/redacted/x');
});

test('keeps only known headers, in lower case', () => {
  const { request, response } = sampleExchange();
  const headers = {
    'Content-Type': 'a/b',
    'Retry-After': '1',
    'x-ratelimit-remaining-tokens': '5',
    'X-Custom': 'x',
    cookie: 'c',
  };
  const kept = redactExchange(
    {
      ...sampleExchange(),
      request: { ...request, headers },
      response: { ...response, status: 200, headers },
    },
    redactor,
  );
  const left = { 'content-type': 'a/b', 'retry-after': '1', 'x-ratelimit-remaining-tokens': '5' };
  expect([kept.request.headers, kept.response?.headers]).toEqual([left, left]);
});

test('a redacted stream is in its first chunk, and keeps the number and delays of chunks', () => {
  const own = createRedactor({ secrets: ['own-secret'] });
  const pieces = ['a own', '-sec', 'ret b own-secret c', ' own-secret'];
  const chunks = pieces.map((data, index) => ({ delayMs: index, data }));
  expect(redactChunks(chunks, own)).toEqual([
    { delayMs: 0, data: `a ${R} b ${R} c ${R}` },
    ...[1, 2, 3].map((delayMs) => ({ delayMs, data: '' })),
  ]);
  expect(redactChunks([{ delayMs: 1, data: 'plain' }], own)).toEqual([{ delayMs: 1, data: 'plain' }]);
});

test('joins deltas by position and kind', () => {
  const own = createRedactor({ secrets: ['own-secret'] });
  const event = (type: string, delta: string) => ({
    delayMs: 0,
    data: `data: ${JSON.stringify({ type, delta })}\n\n`,
  });
  const spread = [event('a', 'own-'), event('b', 'x'), event('a', 'secret')];
  expect(parseEventPayloads(redactChunks(spread, own))).toMatchObject([
    { delta: R },
    { delta: 'x' },
    { delta: '' },
  ]);
  const apart = [event('a', 'own-'), event('b', 'secret')];
  expect(redactChunks(apart, own)).toEqual(apart);
});
