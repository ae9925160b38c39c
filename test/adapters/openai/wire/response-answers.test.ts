import { expect, test } from 'vitest';
import { toResponseEvents } from '../../../../src/adapters/openai/wire/response-answers.ts';

test('a whole answer becomes stream events with a delta for each message only', () => {
  const response = {
    output: [
      { type: 'reasoning', summary: [] },
      { type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] },
      { type: 'function_call', call_id: 'c', name: 'search_docs', arguments: '{}' },
      { type: 'message', content: [{ type: 'output_text', text: '' }] },
    ],
  };
  expect(toResponseEvents(response)).toEqual([
    { type: 'response.created', response },
    { type: 'response.output_text.delta', output_index: 1, delta: 'Hello.' },
    { type: 'response.completed', response },
  ]);
});
