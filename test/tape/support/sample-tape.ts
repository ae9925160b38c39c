import { join } from 'node:path';
import { createRedactor } from '../../../src/faults/redactor.ts';
import type { TapeExchange, TapeHeader, TapeJson } from '../../../src/tape/tape-format.ts';
import { createTapeWriter } from '../../../src/tape/tape-writer.ts';
import { createTemporaryDirectory } from '../../support/temporary-directory.ts';

export function sampleHeader(changes: Partial<TapeHeader> = {}): TapeHeader {
  return {
    version: 1,
    origin: 'recorded',
    madeBy: { program: 'citeloop', version: '0.0.0', node: 'v24.0.0' },
    createdAt: '2026-01-02T03:04:05.678Z',
    seed: 'a seed',
    model: 'm',
    command: 'ask',
    inputs: {},
    redact: [],
    ...changes,
  };
}

export function sampleExchange(changes: Partial<TapeExchange> = {}): TapeExchange {
  return {
    id: 1,
    startedAtMs: 0,
    durationMs: 5,
    request: {
      method: 'POST',
      url: 'https://service.test/v1/things',
      headers: { 'content-type': 'application/json' },
      body: { json: { question: 'why' } },
    },
    response: {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { json: { answer: 'because' } },
    },
    ...changes,
  };
}

/** An exchange with a JSON request and response. */
export function jsonExchange(
  id: number,
  question: TapeJson,
  answer: TapeJson,
  path = '/v1/things',
): TapeExchange {
  const sample = sampleExchange({ id });
  return {
    ...sample,
    request: { ...sample.request, url: `https://service.test${path}`, body: { json: question } },
    response: {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { json: answer },
    },
  };
}

/** Returns the path of the tape. */
export async function writeTape(
  exchanges: readonly TapeExchange[],
  {
    header = sampleHeader(),
    outputs = null,
    path,
  }: { header?: TapeHeader; outputs?: TapeJson; path?: string } = {},
): Promise<string> {
  const target = path ?? join(await createTemporaryDirectory(), 'sample.tape.json');
  const writer = createTapeWriter({ path: target, header, redactor: createRedactor() });
  for (const exchange of exchanges) writer.append(exchange);
  await writer.close(outputs);
  return target;
}

export function postJson(body: unknown, path = '/v1/things'): Promise<Response> {
  return fetch(`https://service.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
