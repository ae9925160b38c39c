import { expect, test } from 'vitest';
import { createRedactor } from '../../src/faults/redactor.ts';
import { parseHar, toHar } from '../../src/tape/har.ts';
import { readTape } from '../../src/tape/read-tape.ts';
import { jsonExchange, sampleExchange, writeTape } from './support/sample-tape.ts';

const entry = (changes: object) => ({
  startedDateTime: '2026-01-01T00:00:01.000Z',
  time: 12.5,
  request: { method: 'GET', url: 'https://a.test/x', headers: [], queryString: [], cookies: [] },
  response: { status: 200, headers: [], content: { mimeType: 'text/plain', text: 'hello' } },
  ...changes,
});
const har = (entries: object[], log: object = {}) => ({
  log: { version: '1.2', creator: { name: 'WebInspector', version: '537.36' }, entries, ...log },
});
const parsed = (document: object) => parseHar(JSON.parse(JSON.stringify(document)), 'x.har');

test('a tape survives export to HAR and import', async () => {
  const exchanges = [
    jsonExchange(1, { q: 'a' }, { a: [1, 2] }),
    sampleExchange({
      id: 2,
      response: {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        chunks: [
          { delayMs: 3, data: 'data: 1\n\nda' },
          { delayMs: 4, data: 'ta: 2\n\n' },
        ],
      },
    }),
    sampleExchange({
      id: 3,
      request: {
        method: 'POST',
        url: 'https://service.test/v1/pictures',
        headers: { 'content-type': 'image/png' },
        body: { base64: 'AP/+AQ==' },
      },
      response: { status: 200, headers: { 'content-type': 'image/png' }, body: { base64: 'AP/+AQ==' } },
    }),
  ];
  const tape = readTape(await writeTape(exchanges));
  const written = JSON.parse(JSON.stringify(toHar(tape, createRedactor())));
  for (const { time, timings } of written.log.entries)
    expect(timings.send + timings.wait + timings.receive).toBe(time);
  const back = parsed(written);
  expect(back.header).toEqual(tape.header);
  expect(back.exchanges.map(({ request, response }) => ({ request, response }))).toEqual(
    exchanges.map(({ request, response }) => ({ request, response })),
  );
});

test('failures survive export to HAR and import', async () => {
  const failed = sampleExchange({
    failure: { name: 'TypeError', message: 'fetch failed', code: 'ECONNREFUSED' },
  });
  delete failed.response;
  const tape = readTape(await writeTape([failed]));
  const { exchanges } = parsed(toHar(tape, createRedactor()));
  expect(exchanges[0]).toMatchObject({ failure: { code: 'ECONNREFUSED' } });
  expect(exchanges[0]?.response).toBeUndefined();
});

test('imports forms, base64 bodies and failed requests of a browser, without data URLs', () => {
  const { header, exchanges } = parsed(
    har([
      entry({ request: { method: 'GET', url: 'data:text/plain,hi', headers: [] } }),
      entry({
        request: {
          method: 'post',
          url: 'https://a.test/form#part',
          headers: [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }],
          postData: { mimeType: 'application/x-www-form-urlencoded', params: [{ name: 'a', value: 'b c' }] },
        },
        response: {
          status: 200,
          headers: [{ name: 'Content-Encoding', value: 'gzip' }],
          content: {
            mimeType: 'application/json',
            text: Buffer.from('{"ok":true}').toString('base64'),
            encoding: 'base64',
          },
        },
      }),
      entry({ response: { status: 0, headers: [], content: {}, _error: 'net::ERR_CONNECTION_REFUSED' } }),
    ]),
  );
  expect(header).toMatchObject({ origin: 'recorded', madeBy: { program: 'WebInspector' } });
  expect(exchanges).toMatchObject([
    {
      id: 1,
      request: { method: 'POST', body: { text: 'a=b+c' } },
      response: { body: { json: { ok: true } } },
    },
    { id: 2, failure: { code: 'CONNECTION_REFUSED' } },
  ]);
});

test('rejects a file that is not HAR', () => {
  expect(() => parsed({ log: 1 })).toThrow('The HAR file x.har is not valid at log');
});
