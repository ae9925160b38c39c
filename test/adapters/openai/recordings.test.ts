import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { toAppError } from '../../../src/agent/model-faults/to-app-error.ts';
import { AppError } from '../../../src/domain/app-error.ts';
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

test('real recordings of many providers are there to be replayed', ({ skip }) => {
  if (recordings.length > 0) return;
  process.stderr.write(`\nNOT TESTED: no recordings of real providers in ${FOLDER}\n\n`);
  skip('no recordings');
});

for (const file of recordings) {
  const { interactions } = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  for (const [index, { api, stream, request, response, derived }] of interactions.entries()) {
    test(`${basename(file, '.json')} ${index} gives what it holds`, async () => {
      const body = response.sse ?? JSON.stringify(response.json);
      const { 'transfer-encoding': _, ...headers } = response.headers;
      const wire: Api = api === 'chat' ? 'chat_completions' : 'responses';
      const { model } = await modelAnswering(wire, new Response(body, { status: response.status, headers }));

      const answer = await askModel(model, request?.body?.stream ?? stream).catch((error: unknown) =>
        toAppError(error, { model: 'm', apiKey: 'test-key-1234' }),
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
    });
  }
}
