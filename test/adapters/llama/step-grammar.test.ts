import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createLlamaService } from '../../../src/adapters/llama/llama-service.ts';
import { stepGrammar } from '../../../src/adapters/llama/step-grammar.ts';
import { engineDirectory } from '../../support/llama-engine.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { writeTinyGguf } from '../../support/tiny-gguf.ts';

const SCHEMAS = {
  nothing: { type: 'object', properties: {}, additionalProperties: false },
  optional: {
    type: 'object',
    properties: {
      a: { type: 'boolean' },
      b: { type: 'null' },
      c: { type: 'integer', minimum: 3, maximum: 5 },
    },
    additionalProperties: false,
  },
  nested: {
    type: 'object',
    properties: {
      kind: { enum: ['a "quoted" word', 'back\\slash', 3, null] },
      list: { type: 'array', items: { type: 'number', minimum: 0 }, minItems: 1, maxItems: 3 },
      inner: {
        type: 'object',
        properties: { share: { type: 'number', minimum: 0, maximum: 1 }, note: { type: 'string' } },
        required: ['share'],
        additionalProperties: false,
      },
      either: { anyOf: [{ type: 'integer' }, { const: 'none' }] },
    },
    required: ['inner', 'kind', 'list', 'either'],
    additionalProperties: false,
  },
};

test('calls are valid by whatever schema a tool has, and all of its choices are met', async () => {
  const service = createLlamaService({
    path: writeTinyGguf(join(await temporaryDirectory(), 'tiny.gguf')),
    contextSize: 2048,
    threads: 1,
    engineDirectory: engineDirectory(),
  });
  try {
    for (const [name, parameters] of Object.entries(SCHEMAS)) {
      const schema = z.fromJSONSchema(parameters as z.core.JSONSchema.JSONSchema);
      for (let seed = 1; seed <= 5; seed += 1) {
        const response = await service.fetch('http://llama.cpp/v1/chat/completions', {
          body: JSON.stringify({
            messages: [{ role: 'user', content: 'Go.' }],
            tools: [{ type: 'function', function: { name, parameters } }],
            tool_choice: { type: 'function', function: { name } },
            temperature: 2,
            seed,
          }),
        });
        const { choices } = (await response.json()) as {
          choices: { message: { tool_calls: { function: { arguments: string } }[] } }[];
        };
        const [call] = choices[0]?.message.tool_calls ?? [];
        expect(schema.safeParse(JSON.parse(call?.function.arguments ?? ''))).toMatchObject({ success: true });
      }
    }
  } finally {
    await service.close();
  }
});

test('what may be done in a step is what its grammar begins with', () => {
  const tools = [{ name: 'search', description: '', parameters: SCHEMAS.nothing }];
  const root = (mayAnswer: boolean, offered = tools) =>
    stepGrammar({ tools: offered, mayAnswer, refs: ['1'] }).split('\n')[0];
  expect(root(true)).toContain('(call | answer)');
  expect(root(false)).toContain('(call)');
  expect(root(false, [])).toContain('(answer)');
});
