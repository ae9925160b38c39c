import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readRecording } from '../../../src/tape/foreign/read-recording.ts';

const CHAT = 'https://api.example.com/v1/chat/completions';

/** As pytest-recording writes it. */
const cassette = (interaction: string) => `interactions:\n${interaction}version: 1\n`;
const interaction = ({
  body = `'{"model":"m"}'`,
  answer = `string: '{"ok": true}'`,
  headers = '',
} = {}) => `- request:
    body: ${body}
    headers:
      authorization:
      - Bearer sk-abcdefghijklmnopqrstuvwx
      content-type:
      - application/json
    method: POST
    uri: ${CHAT}
  response:
    body:
      ${answer}
    headers:
      Date:
      - Tue, 08 Mar 2022 23:58:30 GMT
      content-type:
      - application/json${headers}
    status:
      code: 200
      message: OK
`;

test('a cassette of Python has its calls carried over, compressed answers and streams included', () => {
  const zipped = gzipSync('{"zipped": true}').toString('base64');
  const text = cassette(
    [
      interaction(),
      interaction({
        body: 'null',
        answer: `string: !!binary |\n        ${zipped}`,
        headers: '\n      content-encoding:\n      - gzip',
      }),
      interaction({ answer: `string: 'data: {"a":1}\n\n\n        data: [DONE]\n\n\n        '` }).replace(
        'application/json\n    status',
        'text/event-stream\n    status',
      ),
    ].join(''),
  );
  const { exchanges, header, left } = readRecording(text, 'a.yaml');
  expect(
    exchanges.map(({ request, response }) => [request.body, response?.body ?? response?.chunks]),
  ).toEqual([
    [{ json: { model: 'm' } }, { json: { ok: true } }],
    [undefined, { json: { zipped: true } }],
    [
      { json: { model: 'm' } },
      ['data: {"a":1}\n\n', 'data: [DONE]\n\n'].map((data) => ({ delayMs: 0, data })),
    ],
  ]);
  expect(exchanges[0]?.request).toMatchObject({ method: 'POST', url: CHAT });
  expect(header).toMatchObject({ madeBy: { program: 'vcrpy' }, createdAt: '2022-03-08T23:58:30.000Z' });
  expect(left).toEqual([expect.stringContaining('How long answers took')]);
});

test('bodies that a serializer has parsed, and the older form of httpx, are read as well', () => {
  const parsed = `interactions:
- request:
    method: POST
    parsed_body: {model: m, n: 1}
    uri: ${CHAT}
  response:
    parsed_body: {ok: [1]}
    status: {code: 200, message: OK}
- request: {method: GET, uri: 'https://api.example.com/', body: ''}
  response: {content: 'plain', status_code: 404, headers: {}}
`;
  const { exchanges } = readRecording(parsed, 'a.yaml');
  expect(exchanges.map(({ request, response }) => [request.body, response?.status, response?.body])).toEqual([
    [{ json: { model: 'm', n: 1 } }, 200, { json: { ok: [1] } }],
    [undefined, 404, { text: 'plain' }],
  ]);
});

test('what cannot be carried over is listed, and the rest is', () => {
  const text = cassette(
    [
      interaction(),
      interaction({ body: '!!python/object:multipart.Stream {fields: 1}' }),
      interaction().replace(CHAT, 'ftp://files.example.com/x'),
      interaction().replace('code: 200', 'code: 99'),
      '- {request: null}\n',
    ].join(''),
  );
  const { exchanges, left } = readRecording(text, 'a.yaml');
  expect(exchanges).toHaveLength(1);
  expect(left.slice(0, 4)).toEqual([
    'Interaction 2: its body is an object of Python, not text or bytes.',
    'Interaction 3: its address is not one of HTTP.',
    'Interaction 4: its answer has no status of HTTP.',
    'Interaction 5: it has no request that can be read.',
  ]);
});

test('a cassette of Ruby has its calls and times carried over', () => {
  const text = `---
http_interactions:
- request:
    method: get
    uri: https://api.example.com/v1/models?b=2
    body: {encoding: US-ASCII, string: ''}
    headers: {Accept: ['*/*']}
  response:
    status: {code: 200, message: OK}
    headers: {Content-Type: [application/json]}
    body: {encoding: ASCII-8BIT, base64_string: ${Buffer.from('{"data":[]}').toString('base64')}}
  recorded_at: Tue, 01 Nov 2022 04:58:44 GMT
recorded_with: VCR 6.1.0
`;
  const { exchanges, header } = readRecording(text, 'a.yml');
  expect(exchanges[0]).toMatchObject({
    request: { method: 'GET', url: 'https://api.example.com/v1/models?b=2' },
    response: { body: { json: { data: [] } } },
  });
  expect(header).toMatchObject({
    madeBy: { program: 'VCR', version: '6.1.0' },
    createdAt: '2022-11-01T04:58:44.000Z',
  });
});

test('definitions of nock have their calls carried over, and patterns are listed', () => {
  const packed = brotliCompressSync('{"packed":1}').toString('hex');
  const scope = 'https://api.example.com:443';
  const { exchanges, left } = readRecording(
    JSON.stringify([
      {
        scope,
        method: 'POST',
        path: '/v1/x?a=1',
        body: { q: 1 },
        status: 201,
        response: { ok: 1 },
        rawHeaders: ['Content-Type', 'application/json'],
      },
      {
        scope,
        method: 'GET',
        path: '/packed',
        body: '',
        status: 200,
        response: [packed],
        rawHeaders: ['Content-Encoding', 'br'],
      },
      { scope, method: 'GET', path: '/bytes', status: 200, response: 'ff00fe', responseIsBinary: true },
      { scope, method: 'GET', path: { regex: '/any/.*' }, status: 200, response: '' },
    ]),
    'nock.json',
  );
  expect(exchanges.map(({ request, response }) => [request.url, request.body, response])).toEqual([
    [
      'https://api.example.com/v1/x?a=1',
      { json: { q: 1 } },
      { status: 201, headers: { 'content-type': 'application/json' }, body: { json: { ok: 1 } } },
    ],
    ['https://api.example.com/packed', undefined, expect.objectContaining({ body: { json: { packed: 1 } } })],
    ['https://api.example.com/bytes', undefined, expect.objectContaining({ body: { base64: '/wD+' } })],
  ]);
  expect(left[0]).toBe(
    'Definition 4: its path is a pattern or missing, and a tape has calls that were really made.',
  );
});

test('files that are no recording, or are made to exhaust a reader, are refused in a sentence', () => {
  const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(', ')}]`)
    .join('\n')}\n`;
  for (const [text, reason] of [
    ['{"name": "x"}', 'is no recording that is known'],
    ['just words', 'is no recording that is known'],
    ['a: [1', 'neither JSON nor YAML'],
    [bomb, 'neither JSON nor YAML'],
  ] as const) {
    expect(() => readRecording(text, 'x.yaml')).toThrow(reason);
  }
  const large = gzipSync(Buffer.alloc(300 * 1024 * 1024)).toString('base64');
  const packed = interaction({
    answer: `string: !!binary ${large}`,
    headers: '\n      content-encoding: [gzip]',
  });
  expect(() => readRecording(cassette(packed), 'x.yaml')).toThrow('larger than 256 MB');
});
