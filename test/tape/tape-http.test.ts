import { expect, test } from 'vitest';
import {
  createReplayResponse,
  parseTapeBody,
  toBodyContent,
  toTapeBody,
  toTapeFailure,
  toTapeRequest,
} from '../../src/tape/tape-http.ts';
import { sampleExchange } from './support/sample-tape.ts';

test('stores a body as JSON, text or base64 without loss', () => {
  expect(parseTapeBody('{"a":1}', 'application/json')).toEqual({ json: { a: 1 } });
  expect(parseTapeBody(' [1]', null)).toEqual({ json: [1] });
  expect(parseTapeBody('7', 'application/json')).toEqual({ json: 7 });
  expect(parseTapeBody('7', 'text/plain')).toEqual({ text: '7' });
  expect(parseTapeBody('{broken', 'application/json')).toEqual({ text: '{broken' });
  expect(parseTapeBody('{"id":12345678901234567}', null)).toEqual({ text: '{"id":12345678901234567}' });
  expect(parseTapeBody('{"id":1234567890123456}', null)).toEqual({ json: { id: 1234567890123456 } });
  const hash = { hash: 'ab74680322434015727ef' };
  expect(parseTapeBody(JSON.stringify(hash), null)).toEqual({ json: hash });
  expect(parseTapeBody('{"x":0.50000000000000000000}', null)).toEqual({ json: { x: 0.5 } });
  expect(toTapeBody(new Uint8Array(), 'application/json')).toBeUndefined();
  expect(toTapeBody(Uint8Array.of(255, 0), null)).toEqual({ base64: '/wA=' });
  expect(toTapeBody(Buffer.from('\ufeffa'), null)).toEqual({ text: '\ufeffa' });
  expect([{ json: { a: 1 } }, { text: 'x' }].map(toBodyContent)).toEqual(['{"a":1}', 'x']);
  expect(toBodyContent({ base64: '/wA=' })).toEqual(Buffer.from([255, 0]));
});

test('stores a request in the same form however it is passed to fetch', async () => {
  const url = 'https://a.test/x';
  const json = '{"a":1}';
  const init = { method: 'post', headers: { 'Content-Type': 'application/json' } };
  for (const call of [
    [url, { ...init, body: json }],
    [new URL(url), { ...init, body: Buffer.from(json) }],
    [new Request(url, { ...init, body: json })],
    [url, { ...init, body: new Blob([json]) }],
  ] as Parameters<typeof fetch>[]) {
    expect(await toTapeRequest(new Request(...call))).toMatchObject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: { json: { a: 1 } },
    });
  }
  expect(await toTapeRequest(new Request(url))).toEqual({ method: 'GET', url, headers: {} });
  expect((await toTapeRequest(new Request(url, { method: 'POST', body: '' }))).body).toBeUndefined();
  const form = new URLSearchParams({ a: 'b c' });
  expect((await toTapeRequest(new Request(url, { method: 'POST', body: form }))).body).toEqual({
    text: 'a=b+c',
  });
});

test('stores the code of an error or its causes, also with circular causes', () => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  expect(toTapeFailure(new TypeError('fetch failed', { cause }))).toEqual({
    name: 'TypeError',
    message: 'fetch failed',
    code: 'ECONNREFUSED',
  });
  expect(toTapeFailure(new TypeError('x', { cause: new AggregateError([cause]) })).code).toBe('ECONNREFUSED');
  const circle = new Error('round');
  circle.cause = circle;
  expect(toTapeFailure(circle)).toEqual({ name: 'Error', message: 'round' });
  expect(toTapeFailure(undefined)).toEqual({ name: 'Error', message: 'undefined' });
});

test('throws a recorded failure before or after the recorded data', async () => {
  const none = sampleExchange({ response: undefined, failure: { name: 'TimeoutError', message: 'late' } });
  await expect(createReplayResponse(none, 'none', null)).rejects.toMatchObject({ name: 'TimeoutError' });
  const network = { name: 'TypeError', message: 'fetch failed', code: 'ECONNRESET' };
  const half = sampleExchange({ failure: network });
  const response = await createReplayResponse(half, 'none', null);
  await expect(response.text()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(createReplayResponse(sampleExchange(), 'none', gone)).rejects.toThrow('gone');
});
