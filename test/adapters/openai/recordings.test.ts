import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { toAppError } from '../../../src/agent/guards/model-errors.ts';
import { AppError } from '../../../src/faults/app-error.ts';
import { type Api, askModel, modelAnswering } from './ask-model.ts';

const FOLDER = join(import.meta.dirname, '../../../../shared/data/wire');

interface Recording {
  interactions: Array<{
    api: 'chat' | 'responses';
    stream: boolean;
    request: { body?: { stream?: boolean } } | null;
    response: { status: number; headers: Record<string, string>; json?: unknown; sse?: string };
    /** What a reader found in the response. */
    derived: {
      text?: string | null;
      tool_calls?: Array<{ id: string; name: string; arguments: string }>;
      error?: { message?: string } | null;
    };
  }>;
}

const recordings = existsSync(FOLDER) ? globSync(join(FOLDER, '*.json')).toSorted() : [];

test('recordings of many providers are available', ({ skip }) => {
  if (recordings.length > 0) return;
  process.stderr.write(`\nNOT TESTED: no recordings of real providers in ${FOLDER}\n\n`);
  skip('no recordings');
});

for (const file of recordings) {
  const { interactions } = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  for (const [index, { api, stream, request, response, derived }] of interactions.entries()) {
    const { 'transfer-encoding': _, ...headers } = response.headers;
    const asked = request?.body?.stream ?? stream;
    // As recorded, and as sent by servers that ignore the stream option or send another content type.
    const ways: Array<[string, boolean, Record<string, string>]> = [
      ['', asked, headers],
      response.sse === undefined
        ? [' with the stream option', true, headers]
        : [' with the content type of JSON', asked, { ...headers, 'content-type': 'application/json' }],
    ];
    test.each(ways)(
      `${basename(file, '.json')} ${index}%s returns the recorded content`,
      async (_, streaming, sent) => {
        const body = response.sse ?? JSON.stringify(response.json);
        const wire: Api = api === 'chat' ? 'chat_completions' : 'responses';
        const { model } = modelAnswering(
          wire,
          new Response(body, { status: response.status, headers: sent }),
        );

        const answer = await askModel(model, streaming).catch((error: unknown) =>
          toAppError(error, { model: 'm', secrets: ['test-key-1234'] }),
        );

        if (derived.error) {
          expect(answer).toBeInstanceOf(AppError);
          expect(answer).toMatchObject({ message: expect.stringContaining(derived.error.message ?? '') });
          return;
        }
        const calls = (derived.tool_calls ?? []).map(({ name, arguments: text }) => ({
          name,
          arguments: text,
        }));
        expect(answer).toMatchObject({ text: derived.text ?? '', calls });
        expect((answer as { calls: Array<{ id: string }> }).calls.every(({ id }) => id !== '')).toBe(true);
      },
    );
  }
}
