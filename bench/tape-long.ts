import { createRedactor } from '../src/tape/redact/create-redactor.ts';
import type { TapeHeader, TapeRequest } from '../src/tape/tape-format.ts';
import { createTapeWriter } from '../src/tape/tape-writer.ts';

export function benchHeader(): TapeHeader {
  return {
    version: 1,
    origin: 'recorded',
    madeBy: { program: 'citeloop bench', version: '0.0.0', node: process.version },
    createdAt: '2026-01-01T00:00:00.000Z',
    seed: 'bench',
    model: null,
    command: null,
    inputs: {},
    redact: [],
  };
}

/** A tape of so many exchanges of about so many bytes each. */
export async function writeLongTape(
  path: string,
  { exchanges, bytes }: { exchanges: number; bytes: number },
): Promise<void> {
  const writer = await createTapeWriter({ path, header: benchHeader(), redactor: createRedactor() });
  for (let number = 0; number < exchanges; number += 1) {
    writer.append({
      id: number + 1,
      startedAtMs: number,
      durationMs: 1,
      lane: 0,
      request: madeRequest(number, bytes / 2),
      response: { status: 200, headers: {}, body: { json: { answer: 'word '.repeat(bytes / 10) } } },
    });
  }
  await writer.close(null);
}

export function madeRequest(number: number, bytes: number): TapeRequest {
  const content = `Question ${number}: ${'word '.repeat(bytes / 5)}`;
  return {
    method: 'POST',
    url: 'https://bench.test/v1/chat/completions',
    headers: {},
    body: { json: { model: 'm', messages: [{ role: 'user', content }] } },
  };
}
